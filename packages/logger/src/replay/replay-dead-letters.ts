import { appendFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogOutput, Refusal } from '../outputs/output.js'
import { DeadLetters } from '../shipper/dead-letters.js'
import { type LogOutputOptions, openOutput } from '../shipper/open-output.js'
import { ownerName } from '../spool/owner-name.js'
import { ClaimedFile } from './claimed-file.js'
import { type Letter, LetterShipment, parseLetter } from './letter.js'
import { freshName, letterFiles, spoolRoot } from './letter-files.js'

/** Dead letters in a directory. */
export interface LetterCounts {
  readonly files: number
  readonly letters: number
  /** Number of lines that are not letters. */
  readonly damaged: number
  /** Number of letters by status and type of the refusal, such as `400 document_parsing_exception`. */
  readonly reasons: Readonly<Record<string, number>>
}

/** Options for redelivering dead letters. */
export interface ReplayOptions {
  /** Spool directory, or the `dead` directory in it. */
  readonly dir: string
  readonly output: LogOutputOptions
  /** Called after each delivery. */
  readonly onProgress: (outcome: ReplayOutcome) => void
  /** Called for problems reported by the output. */
  readonly onProblem: (problem: string) => void
  /** Ends the replay before the next delivery. */
  readonly signal: AbortSignal
}

/** Result of a replay. Letters that were not delivered remain in the directory. */
export interface ReplayOutcome {
  readonly delivered: number
  /** Letters that were refused again and are kept with the new reason. */
  readonly refused: number
  readonly damaged: number
  /** Reason why the output did not accept the rest, or null if it did. */
  readonly failure: string | null
}

/** Maximum number of attempts if the output does not respond. The wait doubles after each. */
const MAX_TRIES = 5
const FIRST_WAIT_MS = 200
/** Maximum wait in milliseconds, even if the output asks for more. */
const MAX_WAIT_MS = 10_000

/** Counts the dead letters of a spool without changing them. @throws The file system error. */
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
 * Redelivers the dead letters of a spool under their original IDs, file by file. A gateway may keep writing
 * to the directory. Delivered letters are removed from their file. Letters that are refused again are kept
 * with the new reason.
 * @throws The file system error, or Error if the options of the output are invalid.
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
  /** File for lines that must be kept unchanged. */
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
      // Another replay has claimed it, or it was deleted because the dead letters reached their size limit.
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

  /** Processes lines. Afterwards, each is delivered or stored in another file. */
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

  /** Delivers letters and returns those that the output did not accept. */
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
        this.#failure = delivery.kind === 'failed' ? delivery.reason : 'the target is full'
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
