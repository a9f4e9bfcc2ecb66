import { createHash } from 'node:crypto';
import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { DomainError, invalidParams } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { PushOperations } from '../../core/operations/push-configs.ts';
import type { PushConfig } from '../../core/ports/push-configs.ts';

/*
 * Push notification configs between the wire and core. A receiver's secrets come in and never go out again, not even to
 * whoever brought them.
 */

export interface PushOptions {
  readonly operations: PushOperations;
  /** Why a URL is no destination, as the end of a sentence about it; undefined: it may be one. */
  destinationFault(url: string): string | undefined;
}

type GivenConfig = Omit<PushConfig, 'id' | 'taskId'> & { readonly id?: string };

/** What may stand in a header. */
const HEADER_TEXT = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const MAX_SECRET_CHARS = 4_096;

/** `at`: where the config is in the request. Throws DomainError INVALID_PARAMS. */
export function configOf(given: TaskPushNotificationConfig, push: PushOptions, at = ''): GivenConfig {
  const { id, url, token, authentication } = given;
  const fault = push.destinationFault(url);
  if (fault !== undefined) throw invalidParams(`${at}url`, fault);
  if (token !== '') checkSecret(token, `${at}token`);
  const config = { url, ...(id === '' ? {} : { id }), ...(token === '' ? {} : { token }) };
  if (!authentication) return config;
  const { scheme, credentials } = authentication;
  if (!SCHEME.test(scheme)) throw invalidParams(`${at}authentication.scheme`, 'must be the name of an HTTP scheme');
  if (credentials !== '') checkSecret(credentials, `${at}authentication.credentials`);
  return { ...config, authentication: { scheme, ...(credentials === '' ? {} : { credentials }) } };
}

/**
 * The config that came with a message. Without an id it gets one that a repeat of the same message gets again, so that
 * a client that lost its answer is not notified twice.
 */
export function inlineConfig(
  given: TaskPushNotificationConfig,
  message: Message,
  push: PushOptions,
): GivenConfig & { readonly id: string } {
  const at = 'configuration.taskPushNotificationConfig.';
  if (given.taskId !== '' && given.taskId !== message.taskId) {
    throw invalidParams(`${at}taskId`, 'must be absent: the task is the one of the message');
  }
  const config = configOf(given, push, at);
  const made = createHash('sha256')
    .update(JSON.stringify([message.messageId, config.url]))
    .digest('hex');
  return { ...config, id: config.id ?? made.slice(0, 32) };
}

function checkSecret(text: string, field: string): void {
  if (text.length <= MAX_SECRET_CHARS && HEADER_TEXT.test(text)) return;
  throw invalidParams(field, `must be at most ${MAX_SECRET_CHARS} visible characters`);
}

export function toWire({ id, taskId, url, authentication }: PushConfig): TaskPushNotificationConfig {
  const shown = authentication && { authentication: { scheme: authentication.scheme } };
  return TaskPushNotificationConfig.fromJSON({ id, taskId, url, ...shown });
}

export function pushNotSupported(): DomainError {
  return new DomainError('PUSH_NOT_SUPPORTED', 'Push notifications are not supported');
}
