import { say } from '../output/output.js'

/** A deploy that a rollback goes to. */
export interface RollbackFacts {
  /** Display name, such as `deploy 3`. */
  readonly name: string
  /** Deployment time, ISO 8601. */
  readonly at: string
  readonly actor?: string
  readonly note: string
  /** True if a rollback has replaced it before. */
  readonly wasRolledBack: boolean
}

/** Reports the target of a rollback on stderr, and warns if it was rolled back before. */
export function sayRollback({ name, at, actor, note, wasRolledBack }: RollbackFacts): void {
  const by = actor === undefined ? '' : ` by ${actor}`
  say(`rollback to ${name} of ${at}${by}${note === '' ? '' : ` ("${note}")`}`)
  if (wasRolledBack) say(`warning: ${name} was rolled back before`)
}
