import { Failure } from '../output/failure.js'

/**
 * An object in a response. Every member is checked when it is read, because the server may have another
 * version or not be a gateway.
 */
export class AnswerPart {
  /** The unchecked object. */
  readonly value: Readonly<Record<string, unknown>>
  readonly #where: string
  readonly #noun: string

  /**
   * Wraps a value.
   * @param where Name of the value in errors
   * @param noun Kind of server that should have sent it
   * @throws Failure if it is not an object
   */
  constructor(value: unknown, where: string, noun = 'gateway') {
    this.#where = where
    this.#noun = noun
    if (!isObject(value)) throw this.#failure('is not an object')
    this.value = value
  }

  text(name: string): string {
    return this.#member(name, (value) => typeof value === 'string') as string
  }

  /** Returns a string, or null if the member is null or absent. */
  textOrNull(name: string): string | null {
    return this.#isAbsent(name) ? null : this.text(name)
  }

  number(name: string): number {
    return this.#member(name, (value) => typeof value === 'number') as number
  }

  /** Returns a number, or null if the member is null or absent. */
  numberOrNull(name: string): number | null {
    return this.#isAbsent(name) ? null : this.number(name)
  }

  flag(name: string): boolean {
    return this.#member(name, (value) => typeof value === 'boolean') as boolean
  }

  texts(name: string): readonly string[] {
    const areTexts = (value: unknown): boolean =>
      Array.isArray(value) && value.every((item) => typeof item === 'string')
    return this.#member(name, areTexts) as readonly string[]
  }

  part(name: string): AnswerPart {
    return new AnswerPart(this.#member(name, isObject), `${name} of ${this.#where}`, this.#noun)
  }

  /** Returns an object, or null if the member is null or absent. */
  partOrNull(name: string): AnswerPart | null {
    return this.#isAbsent(name) ? null : this.part(name)
  }

  parts(name: string): readonly AnswerPart[] {
    const items = this.#member(name, Array.isArray) as readonly unknown[]
    return items.map((item, i) => new AnswerPart(item, `${name}[${i}] of ${this.#where}`, this.#noun))
  }

  #isAbsent(name: string): boolean {
    return this.value[name] === undefined || this.value[name] === null
  }

  #member(name: string, isExpected: (value: unknown) => boolean): unknown {
    const value = Object.hasOwn(this.value, name) ? this.value[name] : undefined
    if (isExpected(value)) return value
    throw this.#failure(`has no valid '${name}'`)
  }

  #failure(problem: string): Failure {
    return new Failure(`${this.#where} ${problem}; is this a ${this.#noun} of this version of gw?`)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
