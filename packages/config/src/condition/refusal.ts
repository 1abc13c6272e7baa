/** A condition that cannot be used: thrown while it is parsed and compiled, told to the author. */
export class Refusal extends Error {
  /** Place in the text, from 0. */
  readonly offset: number
  readonly remedy: string

  constructor(message: string, offset: number, remedy: string) {
    super(message)
    this.offset = offset
    this.remedy = remedy
  }
}
