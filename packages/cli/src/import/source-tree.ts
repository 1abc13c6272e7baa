import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import { EXIT, Failure } from '../output/failure.js'
import { readSourceFile } from './source-file.js'

/** Maximum number of YAML aliases, because a few lines could expand to gigabytes. */
const MAX_ALIASES = 1000

/** A path in a YAML or JSON file. */
export type TreePath = readonly (string | number)[]

/** A YAML or JSON file whose values have line numbers. */
export class SourceTree {
  readonly file: string
  readonly value: unknown
  readonly #document: Document
  readonly #lines = new LineCounter()

  /** @throws Failure if the file cannot be read or is not YAML or JSON */
  constructor(file: string) {
    this.file = file
    const text = readSourceFile(file)
    try {
      this.#document = parseDocument(text, { lineCounter: this.#lines, merge: true, prettyErrors: false })
    } catch (error) {
      throw tooDeep(file, error)
    }
    const [mistake] = this.#document.errors
    if (mistake !== undefined) {
      const { line } = this.#lines.linePos(mistake.pos[0])
      throw new Failure(`${file}:${line}: not YAML or JSON: ${mistake.message}`, EXIT.invalid)
    }
    try {
      this.value = this.#document.toJS({ maxAliasCount: MAX_ALIASES })
    } catch (error) {
      throw tooDeep(file, error)
    }
  }

  /** Returns `file:line` of the value at a path, or of the closest value around it. */
  placeOf(path: TreePath): string {
    for (let length = path.length; length > 0; length--) {
      const node = this.#document.getIn(path.slice(0, length), true)
      if (isNode(node) && node.range) return `${this.file}:${this.#lines.linePos(node.range[0]).line}`
    }
    return `${this.file}:1`
  }
}

function tooDeep(file: string, error: unknown): Failure {
  const reason = error instanceof RangeError ? 'it is nested too deeply' : 'it has too many aliases'
  return new Failure(`cannot read ${file}: ${reason}`, EXIT.invalid)
}
