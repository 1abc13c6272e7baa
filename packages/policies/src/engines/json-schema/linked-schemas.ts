import type { ValidateFunction } from 'ajv'
import type { AnySchemaObject, KeywordDefinition } from 'ajv/dist/core.js'
import { _ } from 'ajv/dist/core.js'
import { callRef } from 'ajv/dist/vocabularies/core/ref.js'
import { openDialect } from './dialect.js'
import type { Ajv } from './draft.js'
import { LINK_KEYWORD } from './exact-keywords.js'
import { prepareSchemas } from './prepare-schemas.js'
import { type SchemaLink, SchemaLinks } from './schema-links.js'

/** Options for `LinkedSchemas.open`. */
export interface LinkedSchemasOptions {
  readonly formats: boolean
  readonly allErrors: boolean
  /** True if one of the schemas has `unevaluatedProperties` or `unevaluatedItems`. */
  readonly hasUnevaluated: boolean
  /** Returns the schema of a key: draft 2020-12, with `LINK_KEYWORD` and a key in the place of each reference. */
  readonly schemaOf: (key: string) => unknown
}

/** Schemas that refer to each other by key. Each is compiled separately, as described at `SchemaLinks`. */
export class LinkedSchemas {
  readonly #ajv: Ajv
  readonly #options: LinkedSchemasOptions
  readonly #links = new SchemaLinks()
  readonly #byKey = new Map<string, SchemaLink>()
  /** Validators by schema text. Most parameters share one of a few schemas. */
  readonly #byText = new Map<string, ValidateFunction>()

  static async open(options: LinkedSchemasOptions): Promise<LinkedSchemas> {
    const { formats, allErrors, hasUnevaluated } = options
    const dialect = { formats, allErrors, coerce: false, removeAdditional: false, applyDefaults: false }
    return new LinkedSchemas(await openDialect('2020-12', dialect, hasUnevaluated), options)
  }

  private constructor(ajv: Ajv, options: LinkedSchemasOptions) {
    this.#ajv = ajv
    this.#options = options
    // Ajv validates each schema against the meta-schema of its draft, which takes 30 ms to compile. The keywords
    // check their own values as well.
    ajv.opts.validateSchema = false
    ajv.addKeyword(this.#keyword())
  }

  /** Returns the link of a key. */
  link(key: string): SchemaLink {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const link = this.#links.add(() => this.#compile(key))
    this.#byKey.set(key, link)
    return link
  }

  /** Compiles one linked schema ahead of its first use. Returns false if none was left. */
  compileNext(): boolean {
    return this.#links.compileNext()
  }

  #compile(key: string): ValidateFunction {
    const schema = this.#options.schemaOf(key)
    const text = JSON.stringify(schema)
    let validate = this.#byText.get(text)
    if (validate === undefined) {
      const documents = [{ schema, address: null }]
      const { schemas } = prepareSchemas(documents, '2020-12', this.#options.hasUnevaluated)
      validate = this.#ajv.compile(schemas[0] as AnySchemaObject)
      this.#byText.set(text, validate)
    }
    return validate
  }

  /**
   * Defines the keyword for references to schemas that are not compiled yet, in the same way as Ajv compiles
   * recursive references.
   */
  #keyword(): KeywordDefinition {
    return {
      keyword: LINK_KEYWORD,
      schemaType: 'string',
      code: (context) => {
        const wrapper = context.gen.scopeValue('wrapper', { ref: this.link(String(context.schema)) })
        callRef(context, _`${wrapper}.validate`)
      },
    }
  }
}
