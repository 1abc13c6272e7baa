import { MAX_VALUE_LENGTH } from './known-fields.js'
import { internalized, textOfItsOwn } from './own-text.js'
import { Patience } from './patience.js'

const PLACES = 16
/** Longer runs, like those with a value that is too long to be known, are put together anew each time. */
const MAX_LENGTH = 2048

interface Run {
  /** Names and values, internalized. */
  readonly fields: readonly string[]
  readonly text: string
}

/**
 * Remembers what stands for all fields of a head but those that are another one each time: messages of one client, or
 * of one target, mostly have the same. Where fields are known ones their texts are the same objects, so that a run is
 * told by comparing addresses. One place for each number of fields.
 */
export class KnownRuns {
  readonly #runs: (Run | null)[] = new Array<Run | null>(PLACES).fill(null)
  readonly #patience = new Patience(PLACES)

  /**
   * What stands for the first fields of a list; null when it is not known.
   * @param end how many entries of the list belong to the run, names and values.
   */
  find(list: readonly string[], end: number): string | null {
    const place = placeOf(end)
    const run = this.#runs[place]!
    if (run === null || run.fields.length !== end) return null
    const { fields } = run
    for (let i = 0; i < end; i++) if (list[i] !== fields[i]) return null
    this.#patience.renew(place)
    return run.text
  }

  /** Remembers what stands for the first fields of a list, which is not known. */
  learn(list: readonly string[], end: number, text: string): void {
    const place = placeOf(end)
    if (!this.#patience.isWorthKeeping(place) || text.length > MAX_LENGTH) return
    const fields: string[] = []
    for (let i = 0; i < end; i++) {
      if (list[i]!.length > MAX_VALUE_LENGTH) return
      fields.push(internalized(list[i]!))
    }
    this.#runs[place] = { fields, text: textOfItsOwn(text) }
  }
}

function placeOf(end: number): number {
  return (end >> 1) & (PLACES - 1)
}
