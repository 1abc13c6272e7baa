import { UnreadableBody } from '@sluice/core'

/** Maximum number of values that one query may visit. Nested descendant segments multiply in large documents. */
const MAX_VISITS = 1_000_000

/** A run of a query over a document. */
export class PathRun {
  readonly root: unknown
  #left = MAX_VISITS

  constructor(root: unknown) {
    this.root = root
  }

  /** Counts one visited value. @throws UnreadableBody if the query has visited too many. */
  visit(): void {
    if (--this.#left < 0)
      throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body has more values than a JSON path may visit')
  }
}
