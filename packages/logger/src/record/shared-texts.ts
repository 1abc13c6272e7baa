/**
 * JSON texts that many records contain, in memory that the request path and the log thread share. It begins with the
 * generation as u32. A record refers to a text by its position. A text is its length as u16, followed by printable
 * ASCII.
 */
export type TextMemory = Uint8Array<SharedArrayBuffer>

const MEMORY_BYTES = 256 * 1024
const FIRST_POSITION = 4
const HEAD_BYTES = 2
/** Longer texts are part of each record. */
const MAX_TEXT_BYTES = 8192
/** Reference of a text for which there is no room. */
export const NO_REFERENCE = -1

/** Someone who keeps references to shared texts. */
export interface TextUser {
  /** Called when the references become invalid. */
  forget(): void
}

/** The request path's side of the shared texts. */
export class SharedTexts {
  readonly memory: TextMemory = new Uint8Array(new SharedArrayBuffer(MEMORY_BYTES))
  readonly #buffer = Buffer.from(this.memory.buffer)
  readonly #generation = new Int32Array(this.memory.buffer, 0, 1)
  /** Those who have added texts. */
  readonly #users = new Set<TextUser>()
  #used = FIRST_POSITION
  #isFull = false

  /** True if a text did not fit. Call `clear` as soon as no waiting record refers to a text. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Adds a text of printable ASCII. Returns its reference, or `NO_REFERENCE`. */
  add(text: string, user: TextUser): number {
    if (text.length > MAX_TEXT_BYTES) return NO_REFERENCE
    const at = this.#used
    const end = at + HEAD_BYTES + text.length
    if (end > this.memory.length) {
      this.#isFull = true
      return NO_REFERENCE
    }
    this.#buffer.writeUInt16LE(text.length, at)
    this.#buffer.write(text, at + HEAD_BYTES, 'latin1')
    this.#used = end
    this.#users.add(user)
    return at
  }

  /** Makes room for new texts. All references become invalid. */
  clear(): void {
    for (const user of this.#users) user.forget()
    this.#users.clear()
    this.#used = FIRST_POSITION
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
