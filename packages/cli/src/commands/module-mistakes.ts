import { type ConfigBundle, type DocumentMistake, type LogCustomPlan, resolvePlan } from '@sluice/config'

/** Modules of `log.custom` that cannot be loaded: a gateway would start, and keep every record in the spool. */
export async function moduleMistakes(load: ConfigBundle): Promise<readonly DocumentMistake[]> {
  const { log } = resolvePlan(load)
  const mistakes = [await mistakeOf(log.sink === 'custom' ? log.custom : undefined, ['log'])]
  for (const [i, target] of log.targets.entries()) {
    const custom = target.sink === 'custom' ? target.custom : undefined
    mistakes.push(await mistakeOf(custom, ['log', 'targets', i]))
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
    'name a package, or with ./ a file relative to the folder of the document, whose default export opens a target'
  return { path: [...path, 'custom', 'module'], message, remedy }
}
