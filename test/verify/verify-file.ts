import { openSqliteFacts } from '../../adapters/sqlite/facts.ts';
import type { Finding } from '../../core/verify/findings.ts';
import { type VerifyCounts, verify } from '../../core/verify/verify.ts';

export interface Verified {
  readonly findings: readonly Finding[];
  readonly counts: VerifyCounts;
}

/** What the verifier says about a file, by the time that the test's clock shows. */
export async function verifyFile(path: string, now: number, staleAfterMs = 600_000): Promise<Verified> {
  const facts = openSqliteFacts({ path, now });
  try {
    const findings: Finding[] = [];
    const counts = await verify(facts, { staleAfterMs }, (finding) => findings.push(finding));
    return { findings, counts };
  } finally {
    facts.close();
  }
}

/** `rule task: detail` each, for a comparison that can be read. */
export function told({ findings }: Verified): readonly string[] {
  return findings.map(({ rule, taskId, detail }) => `${rule}${taskId === undefined ? '' : ` ${taskId}`}: ${detail}`);
}
