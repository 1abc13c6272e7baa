import type { CompileEnv, Exchange } from '@sluice/core'
import { type JsonReading, jsonOf } from '../../engines/json/view.js'
import { compileTemplate } from '../../shared/template.js'
import { textOfSource } from '../../shared/text-source.js'
import { compileExpression, type ExpressionLimits, type Params } from './expression.js'
import type { SideConfig } from './schema.js'
import { compileBodyTemplate } from './template.js'
import {
  type ExpressionSettings,
  failureOf,
  settled,
  type Transformed,
  type TransformTask,
} from './transform-work.js'

/**
 * Bodies from this size on are worth a thread for an expression, less than for other work: evaluation takes 0.26 ms a
 * kilobyte (measured), and handing over some 0.1 ms.
 */
const EXPRESSION_OFFLOAD_BYTES = 4096

/** Makes another body of a body. */
export interface Transformer {
  /** False: it makes one without looking at the body. */
  readonly readsBody: boolean
  transform(x: Exchange, body: Uint8Array): Transformed | Promise<Transformed>
}

/** What all transformers of a policy share. */
export interface TransformerUse {
  readonly env: CompileEnv
  readonly limits: ExpressionLimits
  readonly reading: JsonReading
}

/** @throws Error when an expression or a template cannot be compiled, or there is not exactly one of them. */
export async function compileTransformer(config: SideConfig, use: TransformerUse): Promise<Transformer> {
  const { jsonata, template } = config
  if ((jsonata === undefined) === (template === undefined)) {
    throw new Error("write either 'jsonata' or 'template' for each side")
  }
  if (template !== undefined) return templateTransformer(textOfSource(template), config, use)
  if ((config.output ?? 'json') !== 'json')
    throw new Error("'output' is for templates; an expression makes JSON")
  return expressionTransformer(textOfSource(jsonata!), config, use)
}

function templateTransformer(text: string, config: SideConfig, { reading }: TransformerUse): Transformer {
  if (config.params !== undefined)
    throw new Error("'params' are for expressions; write placeholders into the template")
  const { readsBody, render } = compileBodyTemplate(text, config.output ?? 'json')
  return {
    readsBody,
    transform(x, body) {
      try {
        return { text: render(x, readsBody ? jsonOf(x, body, reading).value : null) }
      } catch (error) {
        return failureOf(error)
      }
    },
  }
}

async function expressionTransformer(
  source: string,
  config: SideConfig,
  use: TransformerUse,
): Promise<Transformer> {
  const { env, limits, reading } = use
  const evaluate = await compileExpression(source, limits)
  const offload = env.offload<TransformTask, Transformed>(new URL('./transform-work.js', import.meta.url), {
    source,
    limits,
    reading,
  } satisfies ExpressionSettings)
  const paramsOf = compileParams(config.params ?? {})
  return {
    readsBody: true,
    transform(x, body) {
      const params = paramsOf(x)
      if (body.length >= EXPRESSION_OFFLOAD_BYTES) return offload.run({ body, params }, x)
      return settled(async () => evaluate(jsonOf(x, body, reading).value, params))
    },
  }
}

function compileParams(texts: Readonly<Record<string, string>>): (x: Exchange) => Params {
  const params = Object.entries(texts).map(([name, text]) => {
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw new Error(`'${name}' under params is not a name; write for example tenant`)
    return [name, compileTemplate(text)] as const
  })
  return (x) =>
    Object.fromEntries(
      params.map(([name, render]) => [name, typeof render === 'string' ? render : render(x)]),
    )
}
