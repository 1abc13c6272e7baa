import { Command } from 'commander'
import { beQuiet, complain, complainText, printText } from './output/output.js'
import { addBenchCommands } from './program/bench-commands.js'
import { addDocumentCommands } from './program/document-commands.js'
import { addGatewayCommands } from './program/gateway-commands.js'
import { addLogCommands } from './program/log-commands.js'
import { addToolCommands } from './program/tool-commands.js'
import { version } from './version.js'

const EXIT_CODES = `
Exit codes:
  0 done or nothing to do · 1 failed · 2 differences or warnings · 3 invalid configuration · 4 not authorised
  5 gateway or cluster unreachable · 6 rolled back · 7 assertion failed · 64 wrong usage

Where the gateway is: --server, GW_SERVER, else http://127.0.0.1:9901. The token: --token-file or GW_TOKEN.`

/** The whole command tree. A command loads what it needs when it runs, so that `gw --help` starts at once. */
export function createProgram(): Command {
  const program = new Command('gw')
    .description('Sluice, an API gateway: run it, check its document, deploy to it, look into it.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command]', 'print help for a command')
    .option('--server <url>', 'the admin API of the gateway, else GW_SERVER; default http://127.0.0.1:9901')
    .option('--token-file <file>', 'file that holds the token for the admin API, else GW_TOKEN')
    .option('--quiet', 'leave out messages; results and errors stay')
    .on('option:quiet', beQuiet)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: printText,
      writeErr: complainText,
    })
    .addHelpText('after', EXIT_CODES)
  addDocumentCommands(program)
  addGatewayCommands(program)
  addLogCommands(program)
  addBenchCommands(program)
  addToolCommands(program)
  reportMistakes(program, 'gw')
  return program
}

/** Each command points at its own help. */
function reportMistakes(command: Command, path: string): void {
  command.configureOutput({ outputError: (text) => complain(`${mistakeText(text)}; see ${path} --help`) })
  for (const child of command.commands) reportMistakes(child, `${path} ${child.name()}`)
}

/** Commander's `error: X. Do Y.` and `(Did you mean Z?)` as one sentence like all others. */
function mistakeText(text: string): string {
  const [mistake = '', hint = ''] = text.trim().split('\n')
  const sentence = mistake
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replace(/\. (\w)/g, (_, letter: string) => `; ${letter.toLowerCase()}`)
  return hint === '' ? sentence : `${sentence} ${hint.replace('(Did', '(did')}`
}
