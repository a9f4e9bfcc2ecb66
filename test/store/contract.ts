import { acceptContract } from './accept-contract.ts';
import { artifactsContract } from './artifacts-contract.ts';
import { beginContract } from './begin-contract.ts';
import { claimContract } from './claim-contract.ts';
import { credentialsContract } from './credentials-contract.ts';
import { fairnessContract } from './fairness-contract.ts';
import { listContract } from './list-contract.ts';
import { operatorContract } from './operator-contract.ts';
import { erasureContract } from './operator-erasure-contract.ts';
import { pauseContract } from './operator-pause-contract.ts';
import { operatorReadsContract } from './operator-reads-contract.ts';
import { slotsContract } from './slots-contract.ts';
import type { SubjectFactory } from './subject.ts';
import { retentionContract, tenantsContract } from './tenants-contract.ts';
import { updateContract } from './update-contract.ts';

/**
 * What every store promises a service, whatever database and thread is behind it. Declares the tests; the factory opens a store
 * for each.
 */
export function storeContract(label: string, open: SubjectFactory): void {
  acceptContract(label, open);
  beginContract(label, open);
  updateContract(label, open);
  claimContract(label, open);
  slotsContract(label, open);
  fairnessContract(label, open);
  artifactsContract(label, open);
  credentialsContract(label, open);
  tenantsContract(label, open);
  retentionContract(label, open);
  listContract(label, open);
}

/** What it promises operators, who work beside the service. */
export function storeForOperatorsContract(label: string, open: SubjectFactory): void {
  operatorContract(label, open);
  operatorReadsContract(label, open);
  pauseContract(label, open);
  erasureContract(label, open);
}
