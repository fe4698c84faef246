/**
 * The engine on the notebook's own thread.
 *
 * A worker made from a blob is refused by the security policies of some hubs, so the widget runs here, in slices short enough
 * for the page to stay alive. The module and its library are inside the bundle; the module is compiled once for all widgets of a page.
 */
import library from "seeklab-library?raw";
import init, { call, Run } from "seeklab-engine";
import wasm from "seeklab-engine-wasm?inline";
import { Cancelled, unwrap, type Result } from "../engine/api.ts";
import type { Question, Questions, RunRequest, TextRequest } from "../engine/types.ts";
import { readResult, scenarioOf, simulate, type Engine, fillZeroColumns } from "../engine/simulate.ts";

// At about a million events a second, some ten milliseconds.
const sliceEvents = 10_000;

let loading: Promise<Engine> | undefined;

function load(): Promise<Engine> {
  loading ??= init({ module_or_path: bytesOf(wasm) }).then(() => {
    call("give_library", library);
    return { call, Run };
  });
  return loading;
}

export async function ask<Q extends Question>(name: Q, input: Questions[Q]["input"]): Promise<Questions[Q]["answer"]> {
  const engine = await load();
  return unwrap<Questions[Q]["answer"]>(engine.call(name, JSON.stringify(input)));
}

/** A finished run: its result, and the text tools, which can print it until it is freed. */
export interface FinishedRun extends Result {
  print(request: TextRequest): string;
  free(): void;
}

export async function run(request: RunRequest, { signal }: { readonly signal: AbortSignal }): Promise<FinishedRun> {
  const engine = await load();
  if (signal.aborted) throw new Cancelled();
  const finished = await simulate(engine, request, { sliceEvents, cancelled: () => signal.aborted });
  return {
    ...fillZeroColumns(readResult(finished, scenarioOf(engine, request))),
    print: (text) => unwrap<string>(finished.text(JSON.stringify(text))),
    free: () => finished.free(),
  };
}

function bytesOf(dataUrl: string): Uint8Array<ArrayBuffer> {
  const text = atob(dataUrl.slice(dataUrl.indexOf(",") + 1));
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
