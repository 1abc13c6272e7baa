import { type Flaw, isFlaw } from '../flaw.js'

/** The rules of one kind of text. */
export interface Grammar {
  /** What a good text is, to complete "must be …". */
  readonly expects: string
  /** What is wrong with a text, or null. */
  examine(text: string): Flaw | null
}

/** A grammar made of a function that reads the text or says what is wrong with it. */
export function grammarOf(expects: string, read: (text: string) => unknown): Grammar {
  return {
    expects,
    examine: (text) => {
      const result = read(text)
      return isFlaw(result) ? result : null
    },
  }
}
