import { UnreadableBody } from '@sluice/core'
import { parseXml } from '../../engines/xml/gate.js'
import { unreadableXml } from '../../engines/xml/unreadable-xml.js'
import type { XmlView } from '../../engines/xml/view.js'
import type { CheckedSchemas } from './checked-schemas.js'
import { Diagnostics } from './diagnostics.js'
import { withoutCompletions } from './pattern-translation.js'
import { compileSchemas, type SchemaSet } from './schema-set.js'
import { compileSelection, type Selection } from './selection.js'
import { violationText, withoutValues } from './violation.js'
import { collapseValues } from './white-space.js'

/** Configuration of a validator. Can be cloned, and serialized as JSON. */
export interface ValidatorConfig extends CheckedSchemas {
  readonly select: string | undefined
  readonly names: Readonly<Record<string, string>>
  readonly maxErrors: number
  readonly maxDepth: number
}

/** Result of a validation. Can be cloned. */
export type Verdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly mistakes: string }
  /** Set if libxml2 gave up. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'unreadable'; readonly code: UnreadableBody['code']; readonly mistakes: string }

const VALID: Verdict = { kind: 'valid' }

/** Validates documents against one schema. */
export class Validator {
  readonly #config: ValidatorConfig
  readonly #selection: Selection
  readonly #schemas: SchemaSet

  /** The XML library must be loaded. @throws Error for invalid schemas or an invalid selection */
  constructor(config: ValidatorConfig) {
    this.#config = config
    this.#selection = compileSelection(config.select, config.names)
    this.#schemas = compileSchemas(config.schemas)
  }

  /** Validates a document. @param view returns the parsed body. */
  validate(view: () => XmlView): Verdict {
    try {
      return this.#verdictOf(view())
    } catch (problem) {
      if (!(problem instanceof UnreadableBody)) throw problem
      return { kind: 'unreadable', code: problem.code, mistakes: problem.message }
    }
  }

  /** Parses and validates a body that is not shared with other policies. */
  validateBytes(body: Uint8Array): Verdict {
    let view: XmlView | null = null
    try {
      return this.validate(() => {
        view = parseXml(body)
        return view
      })
    } finally {
      ;(view as XmlView | null)?.close()
    }
  }

  #verdictOf(view: XmlView): Verdict {
    const { maxDepth, maxErrors } = this.#config
    if (view.shape.depth > maxDepth) throw unreadableXml(`has elements nested deeper than ${maxDepth}`)
    const selected = this.#selection(view)
    if ('mistake' in selected)
      return { kind: 'invalid', mistakes: `the body is not valid: ${selected.mistake}` }
    const run = (): Diagnostics => {
      const found = new Diagnostics(maxErrors, (message) => withoutCompletions(withoutValues(message)))
      for (const element of selected.elements) this.#schemas.validate(element, found)
      return found
    }
    let diagnostics = run()
    const restoreValues = collapseValues(diagnostics.misread)
    if (restoreValues !== null) {
      try {
        diagnostics = run()
      } finally {
        restoreValues()
      }
    }
    if (diagnostics.isUndecided) return { kind: 'undecided' }
    if (diagnostics.count === 0) return VALID
    const text = violationText(diagnostics.violations, diagnostics.count)
    return { kind: 'invalid', mistakes: `the body is not valid: ${text}` }
  }

  close(): void {
    this.#schemas.close()
  }
}
