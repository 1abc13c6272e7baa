import { visibleText } from '@sluice/core'
import type { AnswerPart } from '../admin/answer-part.js'
import { complainText, isSilent, say } from '../output/output.js'
import { ageText } from '../output/text.js'

/**
 * Describes the progress of a canary, such as `canary edge-1 (1 of 20 gateways), 3m 5s left, errors 0.1% vs 0.1%, p99 12
 * ms vs 11 ms`. The second figures are those of the other gateways.
 */
export function canaryText(canary: AnswerPart): string {
  const names = canary.texts('members')
  const head = `canary ${names.map(visibleText).join(', ')} (${names.length} of ${canary.number('connected')} gateways)`
  const phase = canary.text('phase')
  const leftMs = canary.numberOrNull('leftMs')
  const left = leftMs === null ? '' : `, ${ageText(leftMs)} left`
  if (phase === 'activating') return `${head}, activating deploy ${canary.number('deploy')}`
  const [own, others] = [canary.part('canary'), canary.part('others')]
  const pair = (name: string, show: (value: number) => string): string =>
    [own, others].map((figures) => textOf(figures.numberOrNull(name), show)).join(' vs ')
  const errors = pair('errors', (share) => `${(share * 100).toFixed(1)}%`)
  return `${head}${left}, errors ${errors}, p99 ${pair('p99Ms', (ms) => `${ms.toFixed(0)} ms`)}`
}

function textOf(value: number | null, show: (value: number) => string): string {
  return value === null ? '-' : show(value)
}

/** Shows the progress of a canary on stderr: in one line of a terminal, otherwise in a line per report. */
export class CanaryLine {
  #isOpen = false

  show(canary: AnswerPart): void {
    const { isTTY, columns } = process.stderr
    if (isTTY && !isSilent()) {
      complainText(`\r${visibleText(canaryText(canary)).slice(0, columns - 1)}\u001b[K`)
      this.#isOpen = true
    } else say(canaryText(canary))
    if (canary.text('phase') !== 'passed') return
    this.end()
    for (const reason of canary.texts('notChecked')) say(`not checked: ${visibleText(reason)}`)
  }

  /** Ends the line, before other output. */
  end(): void {
    if (this.#isOpen) complainText('\n')
    this.#isOpen = false
  }
}
