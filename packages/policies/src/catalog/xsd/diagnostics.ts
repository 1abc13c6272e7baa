import { type Libxml, libxml } from '../../engines/xml/libxml.js'
import { type Violation, violation } from './violation.js'
import { type MisreadValue, misreadValue } from './white-space.js'

/** From this level on a message of libxml2 is a mistake, below it is a warning. */
const LEVEL_ERROR = 2

/** What a run of the validator or of the schema compiler found. */
export class Diagnostics {
  readonly violations: Violation[] = []
  /** Values that may be of their type without the white space around them. */
  readonly misread: MisreadValue[] = []
  count = 0
  /** There is no verdict. */
  isUndecided = false
  readonly #most: number
  readonly #word: (message: string) => string

  /** @param word makes of a message what may be reported. */
  constructor(most: number, word: (message: string) => string) {
    this.#most = most
    this.#word = word
  }

  /**
   * Only the first are looked at closely: the path of an element is found by counting its siblings, and a document may
   * have as many mistakes as elements.
   */
  note({ raw }: Libxml, complaint: number): void {
    const { XmlErrorStruct, xmlGetNodePath } = raw
    if (XmlErrorStruct.level(complaint) < LEVEL_ERROR) return
    this.count++
    const node = XmlErrorStruct.node(complaint)
    const misread = misreadValue(XmlErrorStruct.message(complaint), node)
    if (misread !== null) this.misread.push(misread)
    if (this.violations.length >= this.#most) return
    this.violations.push(
      violation({
        line: XmlErrorStruct.line(complaint),
        path: xmlGetNodePath(node),
        message: this.#word(XmlErrorStruct.message(complaint)),
        file: XmlErrorStruct.file(complaint),
      }),
    )
  }
}

/** Who listens: libxml2 runs to its end before anything else happens. */
let listening: Diagnostics | null = null
let handler = 0

/** Runs something of libxml2 that complains, with the address of the function that hears it. */
export function listen<T>(diagnostics: Diagnostics, run: (handlerAddress: number) => T): T {
  const library = libxml()
  // The functions that libxml2 can call are few, and stay: one for all.
  if (handler === 0) {
    const { addFunction } = library.raw as unknown as { readonly addFunction: AddFunction }
    handler = addFunction((_, complaint) => listening?.note(library, complaint), 'vii')
  }
  listening = diagnostics
  try {
    return run(handler)
  } finally {
    listening = null
  }
}

type AddFunction = (listener: (context: number, complaint: number) => void, signature: string) => number
