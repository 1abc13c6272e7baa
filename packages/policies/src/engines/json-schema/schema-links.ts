import type { ValidateFunction } from 'ajv'

/** A reference to a schema that may not be compiled yet. */
export interface SchemaLink {
  validate: ValidateFunction
}

/**
 * Schemas that are compiled separately, so that no single step takes long:
 *
 *     add(compile) ─► a link that compiles on first use
 *     compileNext() ─► compiles ahead of the first use, one schema per call
 */
export class SchemaLinks {
  readonly #pending: (() => void)[] = []

  /** Returns a link to a schema that is compiled later. */
  add(compile: () => ValidateFunction): SchemaLink {
    const first = (...values: Parameters<ValidateFunction>): unknown => {
      link.validate = compile()
      const isValid = link.validate(...values)
      // Generated code reads the errors from the function that it called.
      Object.assign(first, { errors: link.validate.errors })
      return isValid
    }
    const link: SchemaLink = { validate: first as ValidateFunction }
    this.#pending.push(() => {
      link.validate = compile()
    })
    return link
  }

  /**
   * Compiles one linked schema ahead of its first use. Returns false if none was left.
   * @throws Error for a schema that cannot be compiled.
   */
  compileNext(): boolean {
    const compile = this.#pending.pop()
    compile?.()
    return compile !== undefined
  }
}
