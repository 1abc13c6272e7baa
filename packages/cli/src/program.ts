import type { Command } from 'commander'
import { beQuiet, complain, complainText, printText } from './output/output.js'
import { version } from './output/version.js'
import { addBenchCommands } from './program/bench-commands.js'
import { addControlCommands } from './program/control-commands.js'
import { addDocumentCommands } from './program/document-commands.js'
import { addGatewayCommands } from './program/gateway-commands.js'
import { GwCommand } from './program/gw-command.js'
import { helpEnd } from './program/help.js'
import { addLogCommands } from './program/log-commands.js'
import { addToolCommands } from './program/tool-commands.js'

/** Creates the command tree. Commands load their modules when they run, so that `gw --help` is fast. */
export function createProgram(): GwCommand {
  const program = new GwCommand('gw')
    .description('Run, validate, deploy and inspect the Sluice API gateway.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print help for a command')
    .option('--server <url>', 'URL of the admin API; default GW_SERVER, or http://127.0.0.1:9901')
    .option('--token-file <file>', 'file with the token for the admin API; default GW_TOKEN')
    .option('--quiet', 'print only results and errors')
    .on('option:quiet', beQuiet)
    .exitOverride()
    .configureOutput({ writeOut: printText, writeErr: complainText })
    .addHelpText('afterAll', ({ command }) => helpEnd(command as GwCommand))
  addDocumentCommands(program)
  addGatewayCommands(program)
  addControlCommands(program)
  addLogCommands(program)
  addBenchCommands(program)
  addToolCommands(program)
  reportMistakes(program, 'gw')
  return program
}

/** Makes each command refer to its own help in errors. */
function reportMistakes(command: Command, path: string): void {
  command.configureOutput({ outputError: (text) => complain(`${mistakeText(text)}; see ${path} --help`) })
  for (const child of command.commands) reportMistakes(child, `${path} ${child.name()}`)
}

/** Converts commander's `error: X. Do Y.` and `(Did you mean Z?)` to the style of other messages. */
function mistakeText(text: string): string {
  const [mistake = '', hint = ''] = text.trim().split('\n')
  const sentence = mistake
    .replace(/^error: (command-argument )?/, '')
    .replace(/\.$/, '')
    .replace(/\. (\w)/g, (_, letter: string) => `; ${letter.toLowerCase()}`)
  return hint === '' ? sentence : `${sentence} ${hint.replace('(Did', '(did')}`
}
