import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Finds English that is hard to read in doc comments, messages and pages. `node tools/lint/prose.mjs --list phrase`
 * prints the places. The rules only find candidates: rewrite the sentence for a reader, not for the rule.
 */

/** Maximum number of findings for each rule. Lower these numbers when you improve the text, never raise them. */
const LIMITS = { opener: 60, sentence: 40, phrase: 300, undocumented: 0, subject: 0 }
const MEANING = {
  opener: 'doc comments that start with What, Whether, Of, …',
  sentence: 'sentences of more than 28 words',
  phrase: 'phrases that are hard to read',
  undocumented: 'exports without a doc comment',
  subject: 'commit subjects of more than 72 characters',
}
const MAX_WORDS = 28
const MAX_SUBJECT = 72
/** Older commit subjects are not checked. */
const SUBJECTS_SINCE = '2026-11-29T18:00:00Z'
const OPENERS =
  /^(What|Who|Whose|Whom|Whether|Which|Where|How|Why|Of|It|Its|As|For|In|All|One|Nobody|Nothing|So|That|Those|They)\b/
const PHRASES = [
  /\b(is|are|was|were|counts? as|has|have) (none|no more|one no more)\b/i,
  /\bof (its|their|our|your) own\b/i,
  /\b(anew|in vain|thereby|therein|thereof|herein|likewise)\b/i,
  /\b(nobody|no one) (may|can|asks?|gets?|waits?|is|has|else)\b/i,
  /\b(can|could|may|might|is|are|was|were) (not )?(be )?had\b/i,
  /\bcomes? about\b|\bcame about\b/i,
  /\bso (many|much|long) (as )?(in|of|at|that it)\b/i,
  /\bat one time\b/i,
  /\bwho(ever)? (calls?|asks?|comes?|wants?|may)\b/i,
  /\bwhat (comes?|came|goes|is|was|are|were|it|they|an?|the|others?) [a-z]+/i,
  /\bhold(s|ing)? (it |them |[a-z]+ )?against\b/i,
  /\blets? in\b|\blet through\b/i,
  /\bthe same (do|does|goes|holds|is true)\b/i,
  /\bbrings? (it|them) (back|in|along)\b/i,
  /\bto one another\b|\bone after the other\b/i,
  /\bas (long|many|much|large|far) (a|an)?\b.* as its\b/i,
]
const UNCHECKED =
  /(^|\/)(node_modules|dist|golden|fixtures|testing|reference-data)\/|\.test\.[mc]?[jt]s$|\.d\.ts$/
const SOURCE = /\.[mc]?[jt]s$/
const EXPORT = /^export (?:abstract |async |declare )*(?:function|class|const|interface|type|let) (\w+)/

/** Returns one line for each rule that has more findings than its limit. */
export function proseProblems(root) {
  return Object.entries(proseFindings(root))
    .filter(([rule, findings]) => findings.length > LIMITS[rule])
    .map(([rule, { length }]) => {
      const remedy = `run node tools/lint/prose.mjs --list ${rule}`
      return `${length} ${MEANING[rule]}, at most ${LIMITS[rule]} are allowed: ${remedy}`
    })
}

/** Returns the findings of each rule, one line for each place. */
export function proseFindings(root) {
  const findings = { opener: [], sentence: [], phrase: [], undocumented: [], subject: longSubjects(root) }
  const files = git(root, ['ls-files', '-z']).split('\0')
  for (const file of files.filter((name) => !UNCHECKED.test(name))) {
    if (SOURCE.test(file)) checkSource(findings, file, readFileSync(`${root}/${file}`, 'utf8'))
    else if (file.endsWith('.md')) checkPage(findings, file, readFileSync(`${root}/${file}`, 'utf8'))
  }
  return findings
}

function checkSource(findings, file, text) {
  for (const { 1: comment, index } of text.matchAll(/\/\*\*([\s\S]*?)\*\//g)) {
    const lines = comment.replace(/^\s*\* ?/gm, '')
    const body = lines.split(/\n\s*@/)[0].trim()
    const place = `${file}:${lineOf(text, index)}`
    if (OPENERS.test(body)) findings.opener.push(`${place}  ${firstLine(body)}`)
    checkProse(findings, place, body)
  }
  const strings =
    /(?<![\w$])(?:'((?:[^'\\\n]|\\.){25,})'|"((?:[^"\\\n]|\\.){25,})"|`((?:[^`\\]|\\.){25,}?)`)/g
  for (const { 1: single, 2: double, 3: template, index } of text.matchAll(strings)) {
    const string = single ?? double ?? template
    const isProse = string.split(' ').length > 4 && !/[{};=<>]{2}/.test(string)
    if (isProse) checkProse(findings, `${file}:${lineOf(text, index)}`, string)
  }
  checkExports(findings, file, text.split('\n'))
}

/** Checks exports. One comment may describe a block of constants or types. The type of a schema has the schema's name and comment. */
function checkExports(findings, file, lines) {
  lines.forEach((line, i) => {
    const name = EXPORT.exec(line)?.[1]
    if (name === undefined) return
    let above = i - 1
    while (/^export (const|type) .*[^{([]$/.test(lines[above] ?? '')) above--
    const isOverload = lines[above]?.startsWith(`export function ${name}`)
    const isSchemaType =
      / type /.test(line) && lines.some((other) => other.startsWith(`export const ${name} = `))
    const isDocumented = lines[above]?.trimEnd().endsWith('*/')
    if (!isOverload && !isSchemaType && !isDocumented) findings.undocumented.push(`${file}:${i + 1}  ${name}`)
  })
}

function checkPage(findings, file, text) {
  const withoutCode = text.replace(/```[\s\S]*?```/g, (block) => block.replace(/[^\n]/g, ''))
  let line = 1
  for (const paragraph of withoutCode.split(/\n{2,}/)) {
    checkProse(findings, `${file}:${line}`, paragraph.replace(/^[#>*|-]+\s*/gm, ''))
    line += paragraph.split('\n').length + 1
  }
}

function checkProse(findings, place, text) {
  const plain = text.replace(/`[^`]*`/g, 'code').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  for (const sentence of plain.split(/(?<=[.!?:;])\s+|\n{2,}|\s\|\s/)) {
    const words = sentence.split(/\s+/).filter((word) => /[A-Za-z]/.test(word)).length
    if (words > MAX_WORDS) findings.sentence.push(`${place}  ${words} words: ${firstLine(sentence)}`)
    if (PHRASES.some((phrase) => phrase.test(sentence)))
      findings.phrase.push(`${place}  ${firstLine(sentence)}`)
  }
}

function longSubjects(root) {
  const log = git(root, ['log', '--no-merges', `--since=${SUBJECTS_SINCE}`, '--format=%s']).split('\n')
  return log.filter((subject) => subject.length > MAX_SUBJECT)
}

function git(root, args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 })
}

function lineOf(text, index) {
  return text.slice(0, index).split('\n').length
}

function firstLine(text) {
  return text.replace(/\s+/g, ' ').trim().slice(0, 170)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const rule = process.argv[process.argv.indexOf('--list') + 1]
  const findings = proseFindings(root)
  if (process.argv.includes('--list')) console.log((findings[rule] ?? []).join('\n'))
  else
    for (const [name, { length }] of Object.entries(findings))
      console.log(`${name}: ${length} of ${LIMITS[name]}`)
  const problems = process.argv.includes('--check') ? proseProblems(root) : []
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
