import { type HostFacts, sourceText } from '@sluice/bench'
import { formatSize } from '@sluice/core'
import { EXIT } from '../failure.js'
import { print, printTable, printValue } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import type { BenchTools } from './tools.js'

/** `gw bench doctor`: what stands against good figures on this host. */
export function benchDoctor(tools: BenchTools): (flags: OutputOptions) => Promise<number> {
  return async ({ output }) => {
    const host = await tools.hostFacts()
    const findings = await tools.doctor()
    if (output !== 'table') await printValue({ host, findings }, output)
    else {
      print(...hostLines(host), '')
      printTable(
        ['CHECK', 'STATE', 'FOUND', 'WHAT TO DO'],
        findings.map(({ subject, level, found, remedy }) => [subject, level, found, remedy ?? '']),
      )
    }
    return findings.every(({ level }) => level === 'ok') ? EXIT.ok : EXIT.differences
  }
}

function hostLines({ cpuModel, cpus, memoryBytes, kernel, node, v8, cpuScore, source }: HostFacts): string[] {
  const engine = v8 === undefined ? node : `${node} with V8 ${v8}`
  return [
    `${cpuModel}, ${cpus} CPUs, ${formatSize(memoryBytes)}, ${kernel}, Node.js ${engine}, CPU score ${Math.round(cpuScore)}`,
    ...(source === undefined ? [] : [`measured code: ${sourceText(source)}`]),
  ]
}
