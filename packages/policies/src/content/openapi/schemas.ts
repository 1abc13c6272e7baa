import type { JsonLimits } from '../../engines/json-schema/json-bounds.js'
import { LinkedSchemas } from '../../engines/json-schema/linked-schemas.js'
import type { SchemaLink } from '../../engines/json-schema/schema-links.js'
import { findViolations, type Violation } from '../../engines/json-schema/violations.js'
import { type JsonReading, type JsonView, jsonOfBytes } from '../../shared/json/view.js'
import { asNode, type Node } from './node.js'
import { type Direction, SchemaRewriter, type SchemaUse } from './rewrite.js'

/** Inputs for compiling the schemas of a description. Can be cloned for a thread. */
export interface SchemaSettings extends JsonLimits {
  /** The description as JSON. */
  readonly text: string
  readonly formats: boolean
  readonly skipsUnsupported: boolean
}

/** A value's schema, or null if every value is valid. */
export type ValueSchema = SchemaLink | null

/** Provider of compiled schemas for operations. */
export interface SchemaSource {
  /** Returns a schema of the description, which is compiled later. */
  at(pointer: string, direction: Direction): ValueSchema
  /** Returns the violations of a value. */
  check(schema: ValueSchema, value: unknown, location: string): Violation[]
  /** Parses a JSON body. @throws UnreadableBody for invalid JSON. */
  parse(bytes: Uint8Array): { readonly value: unknown }
}

/** Matches descriptions that need the larger code for `unevaluated...` keywords. */
const UNEVALUATED = /"unevaluated(?:Items|Properties)"/

/** The compiled schemas of a description. */
export class Schemas implements SchemaSource {
  readonly root: Node
  readonly #maxErrors: number
  readonly #reading: JsonReading
  readonly #linked: LinkedSchemas

  static async create(settings: SchemaSettings): Promise<Schemas> {
    const root = asNode(JSON.parse(settings.text))
    const rewriter = new SchemaRewriter(root, {
      skipsUnsupported: settings.skipsUnsupported,
      linkTo: (use) => {
        linked.link(keyOf(use))
        return keyOf(use)
      },
    })
    const linked = await LinkedSchemas.open({
      formats: settings.formats,
      allErrors: settings.maxErrors > 1,
      hasUnevaluated: String(root['openapi']).startsWith('3.1') && UNEVALUATED.test(settings.text),
      schemaOf: (key) => rewriter.rewrite(JSON.parse(key) as SchemaUse),
    })
    return new Schemas(settings, root, linked)
  }

  private constructor({ maxErrors, reading }: SchemaSettings, root: Node, linked: LinkedSchemas) {
    this.root = root
    this.#maxErrors = maxErrors
    this.#reading = reading
    this.#linked = linked
  }

  at(pointer: string, direction: Direction): SchemaLink {
    return this.#linked.link(keyOf({ pointer, direction, optional: [] }))
  }

  /**
   * Compiles one schema ahead of its first use. Returns false if none is left.
   * @throws Error for an invalid schema.
   */
  compileNext(): boolean {
    return this.#linked.compileNext()
  }

  check(schema: ValueSchema, value: unknown, location: string): Violation[] {
    if (schema === null) return []
    return findViolations(schema.validate, value, { location, most: this.#maxErrors })
  }

  /** Returns the violations of a body. @throws UnreadableBody for invalid JSON. */
  checkBytes(pointer: string, direction: Direction, body: Uint8Array): Violation[] {
    return this.check(this.at(pointer, direction), this.parse(body).value, 'body')
  }

  parse(bytes: Uint8Array): JsonView {
    return jsonOfBytes(bytes, this.#reading)
  }
}

function keyOf({ pointer, direction, optional }: SchemaUse): string {
  return JSON.stringify({ pointer, direction, optional })
}
