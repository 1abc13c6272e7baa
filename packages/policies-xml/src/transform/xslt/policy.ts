import {
  type CompileEnv,
  definePolicy,
  type Exchange,
  OFFLOAD_BYTES,
  parseDuration,
  parseSize,
} from '@sluice/core'
import { isXmlType } from '@sluice/policies/shared/text/body-text'
import { transformationStep } from '@sluice/policies/shared/transformation/body-transformation'
import type { Transformed } from '@sluice/policies/shared/transformation/transformed'
import { xmlCodingIssue } from '../../engines/xml/media-type.js'
import { refuseUnknownNames } from '../../engines/xslt/libxslt/refuse-unknown-names.js'
import { type LibxsltConfig, type LibxsltInput, LibxsltRunner } from '../../engines/xslt/libxslt/runner.js'
import { compileSef } from '../../engines/xslt/saxon/compile-sef.js'
import { refuseCompiledCode } from '../../engines/xslt/saxon/sef-code.js'
import type { RunLimits, StylesheetSource } from '../../engines/xslt/stylesheet.js'
import { compileParams, type ParamValue, xpathParams } from './params.js'
import type { SaxonConfig, SaxonInput } from './saxon-work.js'
import {
  DEFAULT_MAX_BODY,
  DEFAULT_MAX_OUTPUT,
  DEFAULT_TIMEOUT,
  type XsltConfig,
  xsltSchema,
} from './schema.js'
import { readStylesheet } from './stylesheet-source.js'

const MAX_TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 10 * 1024 * 1024
/** Maximum length of a failure reason in the operation log. */
const MAX_REASON_CHARS = 500
const MAX_OUTPUT_BYTES = 50 * 1024 * 1024

type Transform = (
  x: Exchange,
  body: Uint8Array,
  params: readonly ParamValue[],
) => Transformed | Promise<Transformed>

/** The `xslt` policy. Transforms XML bodies with a stylesheet. */
export const xslt = definePolicy({
  name: 'xslt',
  summary: 'Transforms XML bodies with an XSLT stylesheet, in requests or responses.',
  schema: xsltSchema,
  cost: 'cpu',
  async compile(config, env) {
    const limits = limitsOf(config)
    const maxBodyBytes = bounded(
      'maxBodyBytes',
      parseSize(config.maxBodyBytes ?? DEFAULT_MAX_BODY),
      MAX_BODY_BYTES,
    )
    const { source, names } = await readStylesheet(config)
    const params = compileParams(config.params)
    await refuseUnknownNames(names, source, Object.keys(config.params ?? {}))
    const transform = await compileTransform(source, limits, env)
    const report = reportTo(env)
    return transformationStep({
      name: 'xslt',
      phase: config.phase ?? 'request',
      maxBodyBytes,
      isInput: isXmlType,
      issue: xmlCodingIssue,
      contentType: resultType(source.method, config.output?.contentType),
      transform(x, body) {
        const values = params(x)
        if (typeof values === 'string') return { kind: 'refused', detail: values }
        const result = transform(x, body, values)
        return result instanceof Promise ? result.then((later) => report(x, later)) : report(x, result)
      },
    })
  },
})

/** Reports the reason of a failure to the operator. The client learns only that the transformation failed. */
function reportTo(env: CompileEnv): (x: Exchange, result: Transformed) => Transformed {
  return (x, result) => {
    if (!(result instanceof Uint8Array) && result.reason !== undefined) {
      const reason = result.reason.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARS)
      env.report('xslt_failed', { route: x.routeId, id: x.id, reason })
    }
    return result
  }
}

function limitsOf(config: XsltConfig): RunLimits {
  return {
    timeoutMs: bounded('timeout', parseDuration(config.timeout ?? DEFAULT_TIMEOUT), MAX_TIMEOUT_MS),
    maxOutputBytes: bounded(
      'maxOutputBytes',
      parseSize(config.maxOutputBytes ?? DEFAULT_MAX_OUTPUT),
      MAX_OUTPUT_BYTES,
    ),
  }
}

function bounded(option: string, value: number, most: number): number {
  if (value >= 1 && value <= most) return value
  throw new Error(`'${option}' must be between 1 and ${most} (milliseconds or bytes), not ${value}`)
}

function compileTransform(source: StylesheetSource, limits: RunLimits, env: CompileEnv): Promise<Transform> {
  return source.version === '1.0'
    ? libxsltTransform(source, limits, env)
    : saxonTransform(source, limits, env)
}

/** Runs small bodies on the event loop, large ones on a thread. */
async function libxsltTransform(
  source: StylesheetSource,
  limits: RunLimits,
  env: CompileEnv,
): Promise<Transform> {
  const config: LibxsltConfig = { source, limits }
  const runner = await LibxsltRunner.create(config)
  env.onClose(() => runner.close())
  const offload = env.offload<LibxsltInput, Transformed>(
    new URL('./libxslt-work.js', import.meta.url),
    config,
  )
  return (x, body, values) => {
    const input = { body, params: values.length === 0 ? NO_PARAMS : xpathParams(values) }
    return body.length < OFFLOAD_BYTES ? runner.run(input) : offload.run(input, x)
  }
}

const NO_PARAMS: readonly string[] = []

/** Runs always on a thread, which checks the body and waits for the engine process. */
async function saxonTransform(
  source: StylesheetSource,
  limits: RunLimits,
  env: CompileEnv,
): Promise<Transform> {
  const sef = await compileSef(source)
  refuseCompiledCode(sef)
  const config: SaxonConfig = { sef, source, limits }
  const offload = env.offload<SaxonInput, Transformed>(new URL('./saxon-work.js', import.meta.url), config)
  return (x, body, params) => offload.run({ body, params }, x)
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  xhtml: 'application/xhtml+xml; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
}

const XML_TYPE = 'application/xml; charset=utf-8'
/** Matches the charset parameter with its value (RFC 9110 section 5.6.6). */
const CHARSET = /;[ \t]*charset=(?:"[^"]{0,64}"|[^;,\s"]{0,64})/i

/**
 * Returns the function that derives the content type of a result from that of the body. An XML type is kept,
 * except for its charset.
 * @param method output method of `xsl:output`, or an empty string.
 */
function resultType(method: string, configured: string | undefined): (before: string) => string {
  const fixed = configured ?? TYPES[method]
  if (fixed !== undefined) return () => fixed
  return (before) => {
    if (!/^[^;]*xml/i.test(before)) return XML_TYPE
    return before.replace(CHARSET, '; charset=utf-8')
  }
}
