export { MemberProxy } from './testing/member-proxy.js'
export { ScriptedController, type ScriptedMember, testBundle } from './testing/scripted-controller.js'
export { TestMember, type TestMemberOptions } from './testing/test-member.js'
