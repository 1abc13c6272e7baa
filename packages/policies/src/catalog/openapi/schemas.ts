import type { ValidateFunction } from 'ajv'
import { type JsonReading, type JsonView, jsonOfBytes } from '../../engines/json/view.js'
import { type Ajv, prepareDialect } from '../../engines/json-schema/dialect.js'
import type { JsonBounds } from '../../engines/json-schema/json-bounds.js'
import { findViolations, type Violation } from '../../engines/json-schema/violations.js'
import type { Node } from './node.js'
import { type Direction, rewritten } from './rewrite.js'

/** What the schemas of a description are compiled from; it can be cloned for a thread. */
export interface SchemaSettings extends JsonBounds {
  readonly root: Node
  readonly formats: boolean
}

/** Under which address the description stands in the compiler. */
const ADDRESS = 'openapi:description'

/** The compiled schemas of a description. */
export class Schemas {
  readonly #maxErrors: number
  readonly #reading: JsonReading
  readonly #bodies: Readonly<Record<Direction, Ajv>>
  readonly #texts: Readonly<Record<Direction, Ajv>>
  readonly #validators = new Map<string, ValidateFunction>()

  static async create(settings: SchemaSettings): Promise<Schemas> {
    const [request, response, requestTexts, responseTexts] = await Promise.all([
      described(settings, 'request', false),
      described(settings, 'response', false),
      described(settings, 'request', true),
      described(settings, 'response', true),
    ])
    return new Schemas(settings, [
      { request, response },
      { request: requestTexts, response: responseTexts },
    ])
  }

  private constructor(
    { maxErrors, reading }: SchemaSettings,
    [bodies, texts]: readonly [Record<Direction, Ajv>, Record<Direction, Ajv>],
  ) {
    this.#maxErrors = maxErrors
    this.#reading = reading
    this.#bodies = bodies
    this.#texts = texts
  }

  /**
   * Compiles the schema of a body ahead of its first use.
   * @throws Error for a schema that cannot be compiled.
   */
  prepare(pointer: string, direction: Direction): void {
    this.#validator(pointer, direction)
  }

  /** What is wrong with a body. */
  checkBody(pointer: string, direction: Direction, view: JsonView): Violation[] {
    return findViolations(this.#validator(pointer, direction), view.value, {
      location: 'body',
      most: this.#maxErrors,
    })
  }

  /** The same for bytes. @throws UnreadableBody when they are not JSON, or not as they have to be. */
  checkBytes(pointer: string, direction: Direction, body: Uint8Array): Violation[] {
    return this.checkBody(pointer, direction, jsonOfBytes(body, this.#reading))
  }

  /**
   * Compiles a schema for values that come as texts, by their names; `$ref` in it means the description.
   * @param location what violations say before the name, such as `query`.
   * @throws Error for a schema that cannot be compiled.
   */
  compileTexts(
    schema: object,
    direction: Direction,
    location: string,
  ): (values: Readonly<Record<string, unknown>>) => Violation[] {
    const validate = compiled(this.#texts[direction], schema, location)
    return (values) => findViolations(validate, values, { location, most: this.#maxErrors })
  }

  #validator(pointer: string, direction: Direction): ValidateFunction {
    const key = `${direction} ${pointer}`
    let validate = this.#validators.get(key)
    if (validate === undefined) {
      validate = compiled(this.#bodies[direction], { $ref: schemaReference(pointer) }, `#${pointer}`)
      this.#validators.set(key, validate)
    }
    return validate
  }
}

/** How a schema of the description is referred to. */
export function schemaReference(pointer: string): string {
  return `${ADDRESS}#${pointer}`
}

async function described(settings: SchemaSettings, direction: Direction, isText: boolean): Promise<Ajv> {
  const documents = [{ schema: rewritten(settings.root, direction), address: ADDRESS }]
  const { ajv, schemas } = await prepareDialect(documents, '2020-12', {
    formats: settings.formats,
    coerce: isText,
    removeAdditional: false,
    applyDefaults: false,
    allErrors: settings.maxErrors > 1,
  })
  ajv.addSchema(schemas[0] as object, ADDRESS, undefined, false)
  return ajv
}

function compiled(ajv: Ajv, schema: object, what: string): ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`the schema of ${what} cannot be compiled: ${reason}`, { cause })
  }
}
