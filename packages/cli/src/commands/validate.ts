import { formatDiagnostic } from '@sluice/config'
import { checkDocument, readDocument } from '../document.js'
import { EXIT } from '../failure.js'
import { complain, print, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import type { DocumentOptions, OutputOptions } from '../program/building.js'

/** Checks a document and prints every mistake with its place and remedy. */
export async function validate({ config, output }: DocumentOptions & OutputOptions): Promise<number> {
  const result = checkDocument(await readDocument(config))
  const diagnostics = result.ok ? result.warnings : result.diagnostics
  const exit = result.ok ? EXIT.ok : EXIT.invalid
  if (output !== 'table') {
    await printValue({ valid: result.ok, diagnostics }, output)
    return exit
  }
  for (const diagnostic of diagnostics) {
    const line = formatDiagnostic(diagnostic)
    if (diagnostic.severity === 'warning') say(line)
    else complain(line)
  }
  if (result.ok) {
    const { routes, upstreams } = result.load.plan
    print(`${config}: ok (${countText(routes.length, 'route')}, ${countText(upstreams.length, 'upstream')})`)
  }
  return exit
}
