import { formatDiagnostic } from '@sluice/config'
import { checkFile } from '../document.js'
import { EXIT } from '../failure.js'
import { complain, type Format, print, printValue, say } from '../output/output.js'

/** Checks a document and prints every mistake with its place and remedy. */
export function validate(file: string, format: Format): number {
  const result = checkFile(file)
  const diagnostics = result.ok ? result.warnings : result.diagnostics
  if (format !== 'table') printValue({ valid: result.ok, diagnostics }, format)
  else if (result.ok) {
    for (const warning of diagnostics) say(formatDiagnostic(warning))
    const { routes, upstreams } = result.load.plan
    print(`${file}: ok (${count(routes.length, 'route')}, ${count(upstreams.length, 'upstream')})`)
  } else {
    for (const diagnostic of diagnostics) complain(formatDiagnostic(diagnostic))
  }
  return result.ok ? EXIT.ok : EXIT.invalid
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
