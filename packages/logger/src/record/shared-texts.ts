/**
 * JSON texts that many records contain, in memory that the request path and log threads share. It begins with the
 * generation as u32. A record refers to a text by its position. A text is its length as u16, followed by printable
 * ASCII.
 *
 * Texts are added to one half. When it is full, new ones replace those in the other half. Until
 * then, waiting records can refer to both halves. Each time is a new generation.
 */
export type TextMemory = Uint8Array<SharedArrayBuffer>

const HALF_BYTES = 256 * 1024
const FIRST_POSITION = 4
const HEAD_BYTES = 2
/** Longer texts are part of each record. */
const MAX_TEXT_BYTES = 8192
/** Reference of a text for which there is no room. */
export const NO_REFERENCE = -1

/** Someone who keeps references to shared texts. */
export interface TextUser {
  /** Called when the references will become invalid. */
  forget(): void
}

/** The request path's side of the shared texts. */
export class SharedTexts {
  readonly memory: TextMemory = new Uint8Array(new SharedArrayBuffer(2 * HALF_BYTES))
  readonly #buffer = Buffer.from(this.memory.buffer)
  readonly #generation = new Int32Array(this.memory.buffer, 0, 1)
  /** Those who have added texts. */
  readonly #users = new Set<TextUser>()
  #used = FIRST_POSITION
  #end = HALF_BYTES
  #isFull = false

  /** True if a text did not fit. Call `switchHalf` as soon as no waiting record refers to the other half. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Adds a text of printable ASCII. Returns its reference, or `NO_REFERENCE`. */
  add(text: string, user: TextUser): number {
    if (text.length > MAX_TEXT_BYTES) return NO_REFERENCE
    const at = this.#used
    const end = at + HEAD_BYTES + text.length
    if (end > this.#end) {
      this.#isFull = true
      return NO_REFERENCE
    }
    this.#buffer.writeUInt16LE(text.length, at)
    this.#buffer.write(text, at + HEAD_BYTES, 'latin1')
    this.#used = end
    this.#users.add(user)
    return at
  }

  /** Replaces the texts in the other half by new ones. All texts must be added again. */
  switchHalf(): void {
    for (const user of this.#users) user.forget()
    this.#users.clear()
    const isFirst = this.#end === HALF_BYTES
    this.#used = isFirst ? HALF_BYTES : FIRST_POSITION
    this.#end = isFirst ? 2 * HALF_BYTES : HALF_BYTES
    this.#isFull = false
    Atomics.add(this.#generation, 0, 1)
  }
}

/** The log thread's side of the shared texts. It prepares each text once. */
export class SharedTextReader<T extends object> {
  readonly #memory: TextMemory
  readonly #prepare: (text: string) => T
  readonly #generation: Int32Array
  #seen = 0
  readonly #texts = new Map<number, T>()

  constructor(memory: TextMemory, prepare: (text: string) => T) {
    this.#memory = memory
    this.#prepare = prepare
    this.#generation = new Int32Array(memory.buffer, 0, 1)
  }

  /** Returns a prepared text. */
  at(position: number): T {
    if (this.#generation[0] !== this.#seen) {
      this.#seen = this.#generation[0]!
      this.#texts.clear()
    }
    return this.#texts.get(position) ?? this.#read(position)
  }

  #read(position: number): T {
    const start = position + HEAD_BYTES
    const length = this.#memory[position]! | (this.#memory[position + 1]! << 8)
    const text = this.#prepare(Buffer.from(this.#memory.subarray(start, start + length)).toString('latin1'))
    this.#texts.set(position, text)
    return text
  }
}
