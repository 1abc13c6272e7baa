/** A deploy in a history. */
export interface PastDeploy {
  /** Digest of the deployed document. */
  readonly content: string
  /** True if it was a rollback. */
  readonly isRollback: boolean
}

/**
 * Returns the contents that were replaced by a rollback and not deployed again. A rollback without a target skips them,
 * because otherwise a second rollback would restore the document that the first one removed.
 * @param deploys oldest first
 */
export function rolledBackContents(deploys: readonly PastDeploy[]): ReadonlySet<string> {
  const rolledBack = new Set<string>()
  for (const [i, { content, isRollback }] of deploys.entries()) {
    const before = deploys[i - 1]?.content
    if (isRollback && before !== undefined) rolledBack.add(before)
    rolledBack.delete(content)
  }
  return rolledBack
}
