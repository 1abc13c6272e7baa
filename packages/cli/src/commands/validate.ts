import { type Diagnostic, documentDiagnostics, formatDiagnostic, policyDiagnostics } from '@sluice/config'
import { policyMistakes } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { checkDocument, readDocument } from '../document.js'
import { EXIT } from '../failure.js'
import { complain, print, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import type { DocumentOptions, OutputOptions } from '../program/building.js'
import { moduleMistakes } from './module-mistakes.js'

/** Checks a document and prints every mistake with its place and remedy. */
export async function validate({ config, output }: DocumentOptions & OutputOptions): Promise<number> {
  const source = await readDocument(config)
  const result = checkDocument(source)
  const mistakes: readonly Diagnostic[] = result.ok
    ? [
        ...policyDiagnostics(source, await policyMistakes(result.bundle, catalog), catalog),
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
