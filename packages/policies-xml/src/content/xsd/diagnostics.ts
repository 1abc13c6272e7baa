import { type Libxml, libxml } from '../../engines/xml/libxml.js'
import { type Violation, violation } from './violation.js'
import { type MisreadValue, misreadValue } from './white-space.js'

/** Level from which messages of libxml2 are errors. Lower levels are warnings. */
const LEVEL_ERROR = 2

/** Problems found by the validator or the schema compiler. */
export class Diagnostics {
  readonly violations: Violation[] = []
  /** Values that may be valid without the white space around them. */
  readonly misread: MisreadValue[] = []
  count = 0
  /** True if libxml2 reached no verdict. */
  isUndecided = false
  readonly #most: number
  readonly #word: (message: string) => string

  /**
   * @param most maximum number of violations to list.
   * @param word converts a message to its reported form.
   */
  constructor(most: number, word: (message: string) => string) {
    this.#most = most
    this.#word = word
  }

  /**
   * Records a message of libxml2. Computes details only for the first ones: the path of an element takes
   * counting its siblings, and a document may have as many errors as elements.
   */
  note({ raw }: Libxml, error: number): void {
    const { XmlErrorStruct, xmlGetNodePath } = raw
    if (XmlErrorStruct.level(error) < LEVEL_ERROR) return
    this.count++
    const node = XmlErrorStruct.node(error)
    const misread = misreadValue(XmlErrorStruct.message(error), node)
    if (misread !== null) this.misread.push(misread)
    if (this.violations.length >= this.#most) return
    this.violations.push(
      violation({
        line: XmlErrorStruct.line(error),
        path: xmlGetNodePath(node),
        message: this.#word(XmlErrorStruct.message(error)),
        file: XmlErrorStruct.file(error),
      }),
    )
  }
}

/** Diagnostics of the current run. libxml2 runs to completion before anything else. */
let active: Diagnostics | null = null
let handler = 0

/** Runs a libxml2 function with the address of an error handler that fills the diagnostics. */
export function withDiagnostics<T>(diagnostics: Diagnostics, run: (handlerAddress: number) => T): T {
  const library = libxml()
  // libxml2 has few slots for callbacks and never frees them, so all runs share one handler.
  if (handler === 0) {
    const { addFunction } = library.raw as unknown as { readonly addFunction: AddFunction }
    handler = addFunction((_, error) => active?.note(library, error), 'vii')
  }
  active = diagnostics
  try {
    return run(handler)
  } finally {
    active = null
  }
}

type AddFunction = (listener: (context: number, error: number) => void, signature: string) => number
