/** Why an operator's act was not done. Nothing was changed. */
export type RefusalCode =
  | 'UNKNOWN_TASK'
  | 'UNKNOWN_TURN'
  | 'UNKNOWN_TENANT'
  | 'UNKNOWN_PRINCIPAL'
  | 'TURN_NOT_DEAD'
  | 'SEVERAL_DEAD_TURNS'
  | 'ALREADY_RETRIED'
  | 'CONTEXT_BUSY'
  | 'TASK_ENDED'
  | 'TENANT_REMOVED';

/**
 * Other than a DomainError this is for an operator and never goes out to a caller: `message` names ids and says what to
 * do instead.
 */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
