import { isObject } from '../json.ts';
import {
  type EnumName,
  type MessageName,
  PROTO_ENUMS,
  PROTO_MESSAGES,
  type ProtoField,
  type Scalar,
} from './proto-fields.ts';

/**
 * A strict ProtoJSON reader, as Jira's client very probably is one: it refuses a field that the schema does not know,
 * where a lenient codec drops it and hides the fault. It returns everything that is wrong, each with its path; nothing
 * wrong means the value may be used as the named message. Stricter than ProtoJSON asks for in two points: enum values
 * go by name, and null stands for no field (only inside `Value`), because no serializer of the proto writes either.
 */
export function checkProtoJson(message: MessageName, json: unknown, path = message as string): readonly string[] {
  if (!isObject(json)) return [`${path}: ${describe(json)} where a ${message} belongs`];
  const fields = PROTO_MESSAGES[message];
  const problems: string[] = [];
  for (const [name, value] of Object.entries(json)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) problems.push(...checkField(field, value, `${path}.${name}`));
    else problems.push(`${path}.${name}: unknown field`);
  }
  const arms = new Map<string, string[]>();
  for (const [name, field] of Object.entries(fields)) {
    const present = Object.hasOwn(json, name);
    if (field.required && !present) problems.push(`${path}.${name}: required, absent`);
    if (field.oneOf) arms.set(field.oneOf, [...(arms.get(field.oneOf) ?? []), ...(present ? [name] : [])]);
  }
  for (const [oneOf, present] of arms) {
    if (present.length !== 1) {
      problems.push(
        `${path}: ${present.length === 0 ? 'no arm' : present.join(' and ')} of ${oneOf}, exactly one belongs`,
      );
    }
  }
  return problems;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function checkField(field: ProtoField, value: unknown, path: string): readonly string[] {
  if (!field.repeated) return checkValue(field, value, path);
  if (!Array.isArray(value)) return [`${path}: ${describe(value)} where an array belongs`];
  if (field.required && value.length === 0) return [`${path}: required, empty`];
  return value.flatMap((element, index) => checkValue({ type: field.type }, element, `${path}[${index}]`));
}

function isEnum(type: ProtoField['type']): type is EnumName {
  return Object.hasOwn(PROTO_ENUMS, type);
}

function isMessage(type: ProtoField['type']): type is MessageName {
  return Object.hasOwn(PROTO_MESSAGES, type);
}

function checkValue(field: ProtoField, value: unknown, path: string): readonly string[] {
  const { type } = field;
  if (isMessage(type)) return checkProtoJson(type, value, path);
  if (isEnum(type)) {
    const known = typeof value === 'string' && PROTO_ENUMS[type].includes(value);
    return known ? [] : [`${path}: ${JSON.stringify(value)} is no ${type}`];
  }
  if (field.required && value === '') return [`${path}: required, empty`];
  return SCALARS[type](value) ? [] : [`${path}: ${describe(value)} where a ${type} belongs`];
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const SCALARS: Readonly<Record<Scalar, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int32: (value) => Number.isInteger(value),
  bytes: (value) => typeof value === 'string' && BASE64.test(value),
  struct: isObject,
  value: () => true,
  timestamp: (value) => typeof value === 'string' && RFC3339.test(value) && !Number.isNaN(Date.parse(value)),
};
