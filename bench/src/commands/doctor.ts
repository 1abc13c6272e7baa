import { EXIT, printTable, printValue } from '@sluice/cli/kit'
import { type Finding, machineFindings, programFindings } from '../measure/doctor.js'
import { hostWarnings, quietLook } from '../measure/host.js'

/** `gw bench doctor`: checks whether this host suits a benchmark. */
export async function benchDoctor({
  output,
}: {
  readonly output: 'table' | 'json' | 'yaml'
}): Promise<number> {
  const noise = hostWarnings(await quietLook())
  const remedy = noise.length === 0 ? null : 'stop other programs, or compare CPU time only within one run'
  const quiet: Finding = { subject: 'quiet machine', found: noise.join('; ') || 'yes', remedy }
  const findings = [quiet, ...machineFindings(), ...programFindings()]
  if (output !== 'table') await printValue({ findings }, output)
  else
    printTable(
      ['CHECK', 'FOUND', 'WHAT TO DO'],
      findings.map(({ subject, found, remedy: what }) => [subject, found, what ?? '']),
    )
  return findings.every((finding) => finding.remedy === null) ? EXIT.ok : EXIT.differences
}
