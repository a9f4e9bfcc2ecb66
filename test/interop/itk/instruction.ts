/*
 * The interop kit's instructions: protobuf messages that travel as the bytes of a file part. Read by hand, because four
 * messages of strings do not justify a protobuf compiler. Field numbers are those of the kit's instruction.proto.
 */

export type Instruction =
  | { readonly call: CallAgent }
  | { readonly answer: string; readonly hold: boolean }
  | { readonly steps: readonly Instruction[] };

export interface CallAgent {
  /** `jsonrpc`, `http_json` or `grpc`. */
  readonly transport: string;
  readonly cardBase: string;
  /** What the called agent is to do, as it came. */
  readonly instruction: Uint8Array;
  readonly streaming: boolean;
  readonly behavior: 'send-message' | 'push-notification' | 'resubscribe';
}

interface Field {
  readonly number: number;
  readonly value: number | Uint8Array;
}

const BEHAVIORS: Readonly<Record<number, CallAgent['behavior']>> = {
  5: 'send-message',
  6: 'push-notification',
  7: 'resubscribe',
};

function fieldsOf(bytes: Uint8Array): readonly Field[] {
  const fields: Field[] = [];
  let offset = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset];
      offset += 1;
      if (byte === undefined || shift > 28) throw new Error('no such instruction: a number does not end');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = varint();
    const [number, wireType] = [Math.floor(tag / 8), tag % 8];
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 2) {
      const length = varint();
      if (offset + length > bytes.length) throw new Error('no such instruction: a field does not end');
      fields.push({ number, value: bytes.subarray(offset, offset + length) });
      offset += length;
    } else throw new Error(`no such instruction: wire type ${wireType}`);
  }
  return fields;
}

function bytesOf(fields: readonly Field[], number: number): Uint8Array {
  const field = fields.findLast((each) => each.number === number);
  return field === undefined || typeof field.value === 'number' ? new Uint8Array() : field.value;
}

function textOf(fields: readonly Field[], number: number): string {
  return new TextDecoder().decode(bytesOf(fields, number));
}

function flagOf(fields: readonly Field[], number: number): boolean {
  return fields.findLast((each) => each.number === number)?.value === 1;
}

/** Throws for bytes that are none. */
export function readInstruction(bytes: Uint8Array): Instruction {
  const [step] = fieldsOf(bytes);
  if (step === undefined || typeof step.value === 'number') throw new Error('no such instruction');
  const fields = fieldsOf(step.value);
  switch (step.number) {
    case 1:
      return {
        call: {
          transport: textOf(fields, 1),
          cardBase: textOf(fields, 2),
          instruction: bytesOf(fields, 3),
          streaming: flagOf(fields, 4),
          behavior: fields.flatMap(({ number }) => BEHAVIORS[number] ?? [])[0] ?? 'send-message',
        },
      };
    case 2:
      return { answer: textOf(fields, 1), hold: flagOf(fields, 2) };
    case 3:
      return {
        steps: fields.flatMap(({ number, value }) =>
          number === 1 && typeof value !== 'number' ? [readInstruction(value)] : [],
        ),
      };
    default:
      throw new Error(`no such instruction: ${step.number}`);
  }
}

export function holds(instruction: Instruction): boolean {
  if ('steps' in instruction) return instruction.steps.some(holds);
  return 'hold' in instruction && instruction.hold;
}
