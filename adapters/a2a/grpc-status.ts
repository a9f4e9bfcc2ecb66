import { Buffer } from 'node:buffer';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { Violation } from '../../core/errors.ts';
import type { ErrorDetail, WireError } from './error-table.ts';

/*
 * An error as the end of a gRPC call (A2A 1.0, 10.6): code and text, and google.rpc.Status with its details in
 * grpc-status-details-bin. Field numbers are those of google/rpc/status.proto and error_details.proto. The SDK's own
 * encoder knows no details besides ErrorInfo.
 */

/** Clients take 8 kB of trailers, details come as base64 and the text comes twice. */
const MAX_VIOLATION_BYTES = 3_072;
const MAX_TEXT_CHARS = 512;

/** `headers`: more trailers, as HTTP would name them. */
export function statusOf(error: WireError, headers: Readonly<Record<string, string>> = {}): StatusObject {
  const code = status[error.grpc];
  const details = error.message.slice(0, MAX_TEXT_CHARS);
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', richStatus(code, details, error));
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { code, details, metadata };
}

function richStatus(code: number, text: string, error: WireError): Buffer {
  const writer = new BinaryWriter().uint32(field(1, VARINT)).int32(code).uint32(field(2, BYTES)).string(text);
  for (const detail of error.details) {
    const value = encodeDetail(detail, error);
    const any = new BinaryWriter().uint32(field(1, BYTES)).string(detail['@type']).uint32(field(2, BYTES)).bytes(value);
    writer.uint32(field(3, BYTES)).bytes(any.finish());
  }
  return Buffer.from(writer.finish());
}

function encodeDetail(detail: ErrorDetail, { retryAfterMs = 0 }: WireError): Uint8Array {
  const writer = new BinaryWriter();
  switch (detail['@type']) {
    case 'type.googleapis.com/google.rpc.ErrorInfo':
      return writer
        .uint32(field(1, BYTES))
        .string(detail.reason)
        .uint32(field(2, BYTES))
        .string(detail.domain)
        .finish();
    case 'type.googleapis.com/google.rpc.BadRequest':
      return encodeViolations(detail.fieldViolations);
    case 'type.googleapis.com/google.rpc.RetryInfo': {
      const delay = new BinaryWriter()
        .uint32(field(1, VARINT))
        .int64(Math.floor(retryAfterMs / 1_000))
        .uint32(field(2, VARINT))
        .int32((retryAfterMs % 1_000) * 1_000_000);
      return writer.uint32(field(1, BYTES)).bytes(delay.finish()).finish();
    }
  }
}

/** As many as fit, the first ones. */
function encodeViolations(violations: readonly Violation[]): Uint8Array {
  const writer = new BinaryWriter();
  let room = MAX_VIOLATION_BYTES;
  for (const { field: path, description } of violations) {
    const violation = new BinaryWriter()
      .uint32(field(1, BYTES))
      .string(path)
      .uint32(field(2, BYTES))
      .string(description)
      .finish();
    room -= violation.length;
    if (room < 0) break;
    writer.uint32(field(1, BYTES)).bytes(violation);
  }
  return writer.finish();
}

const VARINT = 0;
const BYTES = 2;

function field(number: number, wireType: number): number {
  return (number << 3) | wireType;
}
