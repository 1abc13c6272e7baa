import type { SandboxGlobal } from './platform.js'

/** Input of `transform` in addition to the body. */
export interface TransformInput {
  readonly params: readonly (readonly [name: string, value: string | number | boolean])[]
  /** True if the result is maps and arrays to be written as JSON. */
  readonly isJson: boolean
  readonly maxOutputChars: number
}

/** Error of a transformation. `transform` returns `+` and the result, or `-` and this error as JSON. */
export interface SaxonError {
  /** Error name, such as `Q{http://www.w3.org/2005/xqt-errors}XPDY0002`. `TOO_LARGE` and `STACK` are our own. */
  readonly code: string
  readonly message: string
}

/** The part of the SaxonJS API that is used here. */
interface Saxon {
  transform(options: object, execution: 'sync'): { readonly principalResult: unknown }
  serialize(value: unknown, properties: object): string
}

/** Stores the compiled stylesheet. This function and `transform` run inside the sandbox, from their source text. */
function keepStylesheet(): string {
  const { platform, input } = globalThis as unknown as SandboxGlobal
  platform.stylesheet = JSON.parse(input)
  return ''
}

function transform(): string {
  const { platform, input, body: sourceText } = globalThis as unknown as SandboxGlobal
  const saxon = platform.modules['saxon-js'] as Saxon
  const { params, isJson, maxOutputChars } = JSON.parse(input) as TransformInput
  const fail = (code: unknown, message: unknown): string =>
    `-${JSON.stringify({ code: String(code), message: String(message).slice(0, 1000) })}`
  try {
    const { principalResult } = saxon.transform(
      {
        stylesheetInternal: platform.stylesheet,
        sourceText,
        // Maps and arrays need the raw destination.
        ...(isJson ? { destination: 'raw', resultForm: 'xdm' } : { destination: 'serialized' }),
        stylesheetParams: Object.fromEntries(params),
      },
      'sync',
    )
    const text = isJson
      ? saxon.serialize(principalResult, { method: 'json', indent: false })
      : String(principalResult ?? '')
    return text.length > maxOutputChars ? fail('TOO_LARGE', '') : `+${text}`
  } catch (problem) {
    const { code, message } = problem as Partial<SaxonError>
    const isStack = problem instanceof RangeError && String(message).includes('call stack')
    return fail(isStack ? 'STACK' : (code ?? 'error'), message)
  }
}

/** Script that stores the compiled stylesheet inside the sandbox. */
export const KEEP_STYLESHEET_SCRIPT = `(${keepStylesheet})()`
/** Script that transforms a body inside the sandbox. */
export const TRANSFORM_SCRIPT = `(${transform})()`
