/**
 * A small subset of JQL: clauses joined by AND, an optional ORDER BY that is read and left out of account.
 * `issue in (A, B)`, `project = X`, `key = X`, `parent = X`, `text ~ "words"`, `status`, `statusCategory`, `assignee`.
 */
export interface Clause {
  readonly field: string;
  readonly operator: '=' | '!=' | 'in' | 'not in' | '~';
  readonly values: readonly string[];
}

export class JqlError extends Error {}

const FIELDS: Readonly<Record<string, string>> = {
  issue: 'key',
  issuekey: 'key',
  key: 'key',
  id: 'key',
  parent: 'parent',
  project: 'project',
  text: 'text',
  summary: 'summary',
  status: 'status',
  statuscategory: 'statusCategory',
  assignee: 'assignee',
};

const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(!=|[=~(),])|([^\s=~(),!"']+))/y;

interface Token {
  readonly text: string;
  readonly kind: 'string' | 'symbol' | 'word';
}

function tokenize(jql: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const source = jql.trim();
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new JqlError(`Error in the JQL Query: unexpected character at position ${at}.`);
    const quoted = match[1] ?? match[2];
    if (quoted !== undefined) tokens.push({ text: quoted.replace(/\\(.)/g, '$1'), kind: 'string' });
    else if (match[3] !== undefined) tokens.push({ text: match[3], kind: 'symbol' });
    else tokens.push({ text: match[4] ?? '', kind: 'word' });
  }
  return tokens;
}

export function parseJql(jql: string): readonly Clause[] {
  const tokens = tokenize(jql);
  let at = 0;
  const peek = (): Token | undefined => tokens[at];
  const isWord = (word: string): boolean => peek()?.kind === 'word' && peek()?.text.toLowerCase() === word;
  const fail = (): never => {
    throw new JqlError(`Error in the JQL Query: '${peek()?.text ?? 'end of query'}' is not expected here.`);
  };
  const symbol = (text: string): void => {
    if (peek()?.kind !== 'symbol' || peek()?.text !== text) fail();
    at += 1;
  };
  const value = (): string => {
    const token = peek();
    if (!token || token.kind === 'symbol') return fail();
    at += 1;
    if (peek()?.text === '(' && tokens[at + 1]?.text === ')') at += 2;
    return token.text;
  };
  const list = (): readonly string[] => {
    symbol('(');
    const values = [value()];
    while (peek()?.text === ',') {
      at += 1;
      values.push(value());
    }
    symbol(')');
    return values;
  };
  const clause = (): Clause => {
    const name = value();
    const field = FIELDS[name.toLowerCase()];
    if (!field) throw new JqlError(`Field '${name}' does not exist or you do not have permission to view it.`);
    const token = peek();
    if (token?.kind === 'symbol' && (token.text === '=' || token.text === '!=' || token.text === '~')) {
      at += 1;
      return { field, operator: token.text, values: [value()] };
    }
    const negated = isWord('not');
    if (negated) at += 1;
    if (!isWord('in')) fail();
    at += 1;
    return { field, operator: negated ? 'not in' : 'in', values: list() };
  };

  const clauses: Clause[] = [];
  if (!isWord('order')) {
    if (tokens.length > 0) clauses.push(clause());
    while (isWord('and')) {
      at += 1;
      clauses.push(clause());
    }
  }
  if (isWord('order')) return clauses;
  if (at < tokens.length) fail();
  return clauses;
}
