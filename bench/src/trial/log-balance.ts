import type { LogIdentity } from '@sluice/core'

/** Where the records of all calls are, counted at each place by itself. */
export interface LogCount {
  readonly calls: number
  /** Documents of the target; what the log says of its gaps is not among them. */
  readonly documents: number
  /** Documents and dead letters of a call that has one of either already. */
  readonly repeated: number
  /** Dead letters on disk. */
  readonly letters: number
  /** What the log itself says. */
  readonly identity: LogIdentity
}

/** One line that says whether every call is where the log says, once. */
export function balanceLine(count: LogCount): string {
  const { calls, documents, repeated, identity } = count
  const { dead, dropped } = identity
  const faults = faultsOf(count)
  const sum = `${calls} calls = ${documents} documents + ${dead} dead letters + ${dropped} dropped, ${repeated} repeated`
  return faults.length === 0 ? `balance: ${sum}` : `balance broken: ${sum} (${faults.join('; ')})`
}

/** Whether nothing is missing, repeated or astray. */
export function isBalanced(count: LogCount): boolean {
  return faultsOf(count).length === 0
}

function faultsOf({ calls, documents, repeated, letters, identity }: LogCount): string[] {
  const { received, indexed, dead, dropped, onDisk, inMemory } = identity
  const missing = calls - documents - dead - dropped
  const astray = received - indexed - dead - dropped - onDisk - inMemory
  const faults: string[] = []
  if (missing > 0) faults.push(`${missing} are nowhere`)
  if (missing < 0) faults.push(`${-missing} too many`)
  if (repeated > 0) faults.push(`${repeated} repeated`)
  if (astray !== 0) faults.push(`the log's own account is wrong by ${astray}`)
  if (letters !== dead) faults.push(`${letters} of ${dead} dead letters are on disk`)
  return faults
}
