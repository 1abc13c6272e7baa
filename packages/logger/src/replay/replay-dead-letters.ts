import { appendFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LogOutputOptions, openOutput } from '../outputs/open-output.js'
import type { LogOutput, Refusal } from '../outputs/output.js'
import { DeadLetters } from '../shipper/dead-letters.js'
import { ownerName } from '../spool/owner-name.js'
import { ClaimedFile } from './claimed-file.js'
import { type Letter, LetterShipment, parseLetter } from './letter.js'
import { freshName, letterFiles, spoolRoot } from './letter-files.js'

/** Dead letters that lie in a folder. */
export interface LetterCounts {
  readonly files: number
  readonly letters: number
  /** Lines that are no letters. */
  readonly damaged: number
  /** By status and type of the refusal, `400 document_parsing_exception`. */
  readonly reasons: Readonly<Record<string, number>>
}

/** How dead letters are delivered again. */
export interface ReplayOptions {
  /** The directory of the spool, or the folder `dead` in it. */
  readonly dir: string
  readonly output: LogOutputOptions
  /** Is called after each delivery. */
  readonly onProgress: (outcome: ReplayOutcome) => void
  /** Hears what the output has to say. */
  readonly onProblem: (problem: string) => void
  /** Ends the replay before the next delivery. */
  readonly signal: AbortSignal
}

/** What became of dead letters; what is not delivered lies in the folder as before. */
export interface ReplayOutcome {
  readonly delivered: number
  /** Refused once more, and kept with the new reason. */
  readonly refused: number
  readonly damaged: number
  /** Why the output did not take the rest; null: it did. */
  readonly failure: string | null
}

/** An output that does not answer is tried so often, with waits that double. */
const MAX_TRIES = 5
const FIRST_WAIT_MS = 200
/** An output that asks for more patience than this is left alone, ms. */
const MAX_WAIT_MS = 10_000

/** Counts the dead letters of a spool and changes nothing. @throws the file system's error. */
export async function deadLetters(dir: string): Promise<LetterCounts> {
  const reasons: Record<string, number> = {}
  let letters = 0
  let damaged = 0
  const files = letterFiles(spoolRoot(dir))
  const count = (line: Buffer): void => {
    const letter = parseLetter(line)
    if (letter === null) {
      damaged++
      return
    }
    letters++
    const reason = `${letter.status} ${letter.type}`
    reasons[reason] = (reasons[reason] ?? 0) + 1
  }
  for (const { path } of files) {
    for await (const line of (await open(path)).readLines({ encoding: 'latin1' }))
      if (line !== '') count(Buffer.from(line, 'latin1'))
  }
  return { files: files.length, letters, damaged, reasons }
}

/**
 * Delivers the dead letters of a spool again, under the ids they had, file by file; a gateway may go on writing to the
 * folder meanwhile. What is delivered is taken off its file, and what is refused again is kept with the new reason.
 * @throws the file system's error; Error when the target's options cannot be used.
 */
export async function replayDeadLetters(options: ReplayOptions): Promise<ReplayOutcome> {
  const files = letterFiles(spoolRoot(options.dir))
  const output = await openOutput(options.output, options.onProblem)
  const replay = new Replay(options, output)
  try {
    for (const { path, claimed } of files) {
      if (!replay.isOver) await replay.file(path, claimed)
    }
  } finally {
    await output.close()
  }
  return replay.outcome
}

class Replay {
  readonly #options: ReplayOptions
  readonly #root: string
  readonly #output: LogOutput
  readonly #refused: DeadLetters
  /** Where lines go that have to stay as they are. */
  readonly #kept: string
  #counts = { delivered: 0, refused: 0, damaged: 0 }
  #failure: string | null = null

  constructor(options: ReplayOptions, output: LogOutput) {
    this.#options = options
    this.#output = output
    this.#root = spoolRoot(options.dir)
    this.#kept = freshName(this.#root)
    this.#refused = new DeadLetters(this.#root, ownerName(0), ({ problem = '' }) =>
      options.onProblem(problem),
    )
  }

  get isOver(): boolean {
    return this.#failure !== null || this.#options.signal.aborted
  }

  get outcome(): ReplayOutcome {
    return { ...this.#counts, failure: this.#failure }
  }

  async file(path: string, claimed: string): Promise<void> {
    let file: ClaimedFile
    try {
      file = new ClaimedFile(path, claimed)
    } catch (error) {
      // Another replay has it, or the bound of all dead letters was reached.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    try {
      for (let piece = file.last(); piece !== null && !this.isOver; piece = file.last()) {
        await this.#lines(piece.lines)
        file.takeOff(piece)
        this.#options.onProgress(this.outcome)
      }
    } finally {
      file.release(freshName(this.#root))
    }
  }

  /** When this has ended each of the lines is delivered, or in another file. */
  async #lines(lines: readonly Buffer[]): Promise<void> {
    const letters: Letter[] = []
    for (const line of lines) {
      const letter = parseLetter(line)
      if (letter !== null) letters.push(letter)
      else {
        this.#counts.damaged++
        this.#keep([line])
      }
    }
    this.#keep((await this.#deliver(letters)).map(({ line }) => line))
  }

  /** Returns what the output did not take. */
  async #deliver(letters: readonly Letter[]): Promise<readonly Letter[]> {
    let left = letters
    let atOnce = letters.length
    for (let tries = 0; left.length > 0 && !this.#options.signal.aborted; ) {
      const piece = left.slice(0, atOnce)
      const others = left.slice(atOnce)
      const delivery = await this.#output.deliver(new LetterShipment(piece))
      if (delivery.kind === 'unfit') {
        if (piece.length === 1) {
          const { status, reason } = delivery
          this.#bury(piece, [{ index: 0, status, type: 'request_refused', reason }])
          left = others
        }
        atOnce = Math.max(1, piece.length >> 1)
        continue
      }
      if (delivery.kind === 'answered') {
        const { refused } = delivery
        this.#bury(piece, refused)
        this.#counts.delivered += piece.length - refused.length - delivery.again.length
        left = [...delivery.again.map((i) => piece[i]!), ...others]
        if (delivery.again.length < piece.length) tries = 0
        if (delivery.again.length === 0) continue
      }
      if (++tries === MAX_TRIES) {
        this.#failure = delivery.kind === 'failed' ? delivery.reason : 'the target has no room'
        return left
      }
      if (delivery.kind === 'failed' && delivery.overload) atOnce = Math.max(1, piece.length >> 1)
      await this.#wait(FIRST_WAIT_MS * 2 ** tries, delivery.kind === 'failed' ? delivery.afterMs : 0)
    }
    return left
  }

  #bury(letters: readonly Letter[], refused: readonly Refusal[]): void {
    if (refused.length === 0) return
    this.#refused.keep(new LetterShipment(letters), refused)
    this.#counts.refused += refused.length
  }

  #keep(lines: readonly Buffer[]): void {
    if (lines.length === 0) return
    const text = Buffer.concat(lines.flatMap((line) => [line, NEWLINE]))
    appendFileSync(this.#kept, text, { mode: 0o600 })
  }

  async #wait(ms: number, askedMs = 0): Promise<void> {
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(ms, askedMs))
    await sleep(waitMs, undefined, { signal: this.#options.signal }).catch(() => {})
  }
}

const NEWLINE = Buffer.from('\n')
