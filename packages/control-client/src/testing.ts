export { ScriptedController, type ScriptedMember, testBundle } from './testing/scripted-controller.js'
