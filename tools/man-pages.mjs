import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Characters that roff would interpret or replace. */
const GLYPHS = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '"': '\\(dq',
  '^': '\\(ha',
  '~': '\\(ti',
}

/**
 * Writes the manual pages of `gw` from its command tree: `gw.1`, and one for each command with its subcommands. The
 * latter have names such as `gw-deploy.1`, which `man gw deploy` finds.
 * @param sections texts at the end of `gw --help`, by title
 */
export function writeManPages(folder, program, sections) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const write = (name, about, body) => {
    const head = `.TH ${roff(name.toUpperCase())} 1 "" "Sluice ${program.version()}" "Sluice Manual"`
    // Neither justified nor hyphenated, so that values can be copied.
    const lines = [head, '.nh', '.ad l', '.SH NAME', `${roff(name)} \\- ${roff(about)}`, ...body, '']
    writeFileSync(join(folder, `${name}.1`), lines.join('\n'))
  }
  const commands = program.commands.filter(isVisible)
  write('gw', program.description().replace(/\.$/, ''), mainBody(program, commands, sections))
  for (const command of commands) write(`gw-${command.name()}`, command.description(), commandBody(command))
}

function mainBody(program, commands, sections) {
  const groups = [...new Set(commands.map((command) => command.helpGroup()))]
  return [
    ...[
      '.SH SYNOPSIS',
      ...usage(program, 'gw'),
      '.SH COMMANDS',
      'Each command has a page, such as gw\\-deploy(1).',
    ],
    ...groups.flatMap((group) => [
      `.SS ${roff(group.replace(':', ''))}`,
      ...commands
        .filter((command) => command.helpGroup() === group)
        .flatMap((command) => item(command.name(), command.description())),
    ]),
    ...['.SH OPTIONS', ...optionItems(program)],
    ...Object.entries(sections).flatMap(([title, lines]) => [
      `.SH ${roff(title.toUpperCase())}`,
      ...verbatim(lines),
    ]),
    ...['.SH SEE ALSO', commands.map((command) => `gw\\-${roff(command.name())}(1)`).join(',\n')],
  ]
}

function commandBody(command) {
  const path = `gw ${command.name()}`
  const below = descendants(command, path)
  return [
    ...[
      '.SH SYNOPSIS',
      ...usage(command, path),
      ...below.flatMap(([one, name]) => ['.br', ...usage(one, name)]),
    ],
    ...['.SH DESCRIPTION', roff(sentence(command))],
    ...['.SH OPTIONS', ...argumentItems(command), ...optionItems(command)],
    ...examples(command, '.SH EXAMPLES'),
    ...(below.length === 0 ? [] : ['.SH COMMANDS']),
    ...below.flatMap(([one, name]) => [
      ...[`.SS ${roff(name)}`, roff(sentence(one)), ...argumentItems(one), ...optionItems(one)],
      ...examples(one, '.PP\nExamples:'),
    ]),
    ...['.SH SEE ALSO', 'gw(1), for global options, exit codes and variables'],
  ]
}

function descendants(command, path) {
  return command.commands.filter(isVisible).flatMap((child) => {
    const name = `${path} ${child.name()}`
    return [[child, name], ...descendants(child, name)]
  })
}

function isVisible(command) {
  return !command._hidden
}

function sentence(command) {
  const text = command.description()
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function usage(command, path) {
  return [`\\fB${roff(path)}\\fR ${roff(command.usage())}`]
}

function argumentItems(command) {
  const help = command.createHelp()
  return help
    .visibleArguments(command)
    .flatMap((one) => item(help.argumentTerm(one), help.argumentDescription(one)))
}

function optionItems(command) {
  const help = command.createHelp()
  return help
    .visibleOptions(command)
    .flatMap((one) => item(help.optionTerm(one), help.optionDescription(one)))
}

function item(term, text) {
  return ['.TP', `\\fB${roff(term)}\\fR`, roff(text)]
}

function examples({ examples: lines = [] }, heading) {
  return lines.length === 0 ? [] : [heading, ...verbatim(lines.flatMap((line) => line.split('\n')))]
}

function verbatim(lines) {
  return ['.PP', '.nf', ...lines.map((line) => `  ${roff(line)}`), '.fi']
}

/** Escapes text for roff. Other characters than ASCII depend on the locale of the reader. */
function roff(text) {
  const escaped = text.replace(/[\\\-'`"^~]|[^\x20-\x7e]/gu, (glyph) => GLYPHS[glyph] ?? unicode(glyph))
  return escaped.replace(/^\./, '\\&.')
}

function unicode(glyph) {
  return `\\[u${glyph.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
}
