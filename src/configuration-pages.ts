import { CONFIG_KEYS, CONFIG_SECTIONS, type ConfigKey, keyNotes } from './config-schema.ts';

/** docs/configuration.md, from the schema. */
export function configurationPage(): string {
  const sections = CONFIG_SECTIONS.map(({ title, keys }) =>
    [
      `## ${title}`,
      '',
      '| Variable | Default | Meaning |',
      '|---|---|---|',
      ...(Object.keys(keys) as ConfigKey[]).map((key) => {
        const { about, fallback, secret } = notesOf(key);
        const meaning = `${about}${secret && key !== 'DATABASE_URL' ? ' **Secret.**' : ''}`.replaceAll('|', '\\|');
        return `| \`${key}\` | ${fallback === undefined ? '–' : `\`${fallback}\``} | ${meaning} |`;
      }),
      '',
    ].join('\n'),
  );
  return `${PAGE_HEAD}\n${sections.join('\n')}`;
}

/** `.env.example`, from the schema: every variable, commented out, with its default. */
export function environmentExample(): string {
  const sections = CONFIG_SECTIONS.map(({ title, keys }) =>
    [
      `# ---- ${title}`,
      '',
      ...(Object.keys(keys) as ConfigKey[]).flatMap((key) => {
        const { about, fallback } = notesOf(key);
        return [...wrapped(about.replaceAll('`', '')), `#${key}=${fallback ?? ''}`, ''];
      }),
    ].join('\n'),
  );
  return `${EXAMPLE_HEAD}\n${sections.join('\n')}`;
}

function notesOf(key: ConfigKey) {
  const notes = keyNotes.get(CONFIG_KEYS[key]);
  if (!notes) throw new Error(`${key} has no description`);
  return notes;
}

function wrapped(text: string): string[] {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > 100) lines.push(`# ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

const PAGE_HEAD = `# Configuration

<!-- Written by \`npm run docs\` from src/config-schema.ts. Change it there. -->

The service reads environment variables, and a \`.env\` file in its working directory; a variable of the environment
wins over the file. A blank value is the same as none. Durations are whole milliseconds, switches are \`on\` or \`off\`,
lists are separated by commas.

When something is wrong the process lists every problem at once (the variable, what was found, what to set) and exits
with 78 before it listens. A name that begins with \`ROVO_\` or \`A2A_\` and is no setting, and any other that is within two
characters of a setting of several words, is reported in the log (\`config.warning\`) with the setting
that was probably meant; so are settings without effect.

At least one edge has to be on: Rovo (\`FORGE_APP_ID\`) or A2A (\`A2A_AUTH\`).
`;

const EXAMPLE_HEAD = `# Copy to .env and take the # off what you want to set. Everything has a default but the edge: set FORGE_APP_ID,
# or A2A_AUTH, or both. Written by \`npm run docs\` from src/config-schema.ts.
`;
