import {
  type ConfigBundle,
  type Diagnostic,
  type DocumentMistake,
  documentDiagnostics,
  formatDiagnostic,
  type LogCustomPlan,
  policyDiagnostics,
  resolvePlan,
} from '@sluice/config'
import { checkDocument, readDocument } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { catalog } from '../input/policy-catalog.js'
import { EXIT } from '../output/failure.js'
import { complain, print, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { mistakesOf } from '../plugins/compile-trial.js'

/** Checks a document and prints all errors with position and suggested fix. */
export async function validate({ config, output }: DocumentOptions & OutputOptions): Promise<number> {
  const source = await readDocument(config)
  const result = await checkDocument(source)
  const mistakes: readonly Diagnostic[] = result.ok
    ? [
        ...policyDiagnostics(source, await mistakesOf(result.bundle, catalog), catalog),
        ...documentDiagnostics(source, await moduleMistakes(result.bundle)),
      ]
    : result.diagnostics
  const isValid = result.ok && mistakes.length === 0
  const diagnostics = [...mistakes, ...(result.ok ? result.warnings : [])]
  const exit = isValid ? EXIT.ok : EXIT.invalid
  if (output !== 'table') {
    await printValue({ valid: isValid, diagnostics }, output)
    return exit
  }
  for (const diagnostic of diagnostics) {
    const line = formatDiagnostic(diagnostic)
    if (diagnostic.severity === 'warning') say(line)
    else complain(line)
  }
  if (result.ok && isValid) {
    const { routes, upstreams } = result.bundle.plan
    print(
      `${source.name}: ok (${countText(routes.length, 'route')}, ${countText(upstreams.length, 'upstream')})`,
    )
  }
  return exit
}

/**
 * Returns the modules of `log.custom` that cannot be loaded. The gateway would start, but keep all records in
 * the spool.
 */
async function moduleMistakes(bundle: ConfigBundle): Promise<readonly DocumentMistake[]> {
  const { log: written } = bundle.plan
  if (![written, ...written.outputs].some(({ sink }) => sink === 'custom')) return []
  const { log } = resolvePlan(bundle)
  const mistakes = [await mistakeOf(log.sink === 'custom' ? log.custom : undefined, ['log'])]
  for (const [i, target] of log.outputs.entries()) {
    const custom = target.sink === 'custom' ? target.custom : undefined
    mistakes.push(await mistakeOf(custom, ['log', 'outputs', i]))
  }
  return mistakes.filter((mistake) => mistake !== null)
}

async function mistakeOf(
  custom: LogCustomPlan | null | undefined,
  path: DocumentMistake['path'],
): Promise<DocumentMistake | null> {
  if (custom === null || custom === undefined) return null
  const { customOutputProblem } = await import('@sluice/logger')
  const problem = await customOutputProblem(custom)
  if (problem === null) return null
  const message = `the module '${custom.module}' cannot be loaded: ${problem.split('\n')[0]}`
  const remedy =
    'use a package, or ./ and a file relative to the folder of the document, whose default export opens a target'
  return { path: [...path, 'custom', 'module'], message, remedy }
}
