import { UnreadableBody } from '@sluice/core'

/** Values that one query may look at: descendants of descendants are many where the document is large. */
const MAX_VISITS = 1_000_000

/** One run of a query over a document. */
export class PathRun {
  readonly root: unknown
  #left = MAX_VISITS

  constructor(root: unknown) {
    this.root = root
  }

  /** Counts one value that is looked at. @throws UnreadableBody when they are too many. */
  visit(): void {
    if (--this.#left < 0) {
      throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body has more values than a JSON path may look at')
    }
  }
}
