import { suggestion } from '@sluice/config'
import { LINT_RULES, type LintRule } from '@sluice/config/authoring'
import { usageError } from '../output/failure.js'

/** Returns a rule. @throws Failure if there is no such rule */
export function ruleNamed(name: string): LintRule {
  const found = LINT_RULES.find(({ id }) => id === name)
  if (found !== undefined) return found
  const known = LINT_RULES.map(({ id }) => id)
  throw usageError(
    `there is no lint rule '${name}'; ${suggestion(name, known, 'list them with gw lint --rules')}`,
  )
}

/** Returns the explanation of a rule for the terminal. */
export function rulePage({ id, severity, title, why, bad, good }: LintRule): string {
  const section = (heading: string, text: string): string[] =>
    text === '' ? [] : ['', `${heading}:`, ...indented(text)]
  return [
    `${id} (${severity})`,
    title,
    '',
    ...folded(why, 80),
    ...section('With the finding', bad),
    ...section('Without it', good),
    ...section(
      'Disable it',
      `gw lint --disable ${id}\nx-lint: { disable: [${id}] }    in the document, or in a route, policy or upstream\n# gw-lint-disable-next-line ${id}`,
    ),
  ].join('\n')
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
}

/** Wraps a text at spaces. */
function folded(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
