// What is pointed at, and what was clicked: every view shows it, whichever it was chosen in.

export interface Chosen {
  places: ReadonlySet<number>;
  /** The kernel's call, if one was chosen. */
  kernel: string;
}

export const NOTHING: Chosen = { places: new Set(), kernel: "" };
type Listener = (chosen: Chosen, from: unknown, isPinned: boolean) => void;

export class Selection {
  private pinned: Chosen = NOTHING;
  private readonly listeners: Listener[] = [];
  private frame = 0;

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Show what the pointer is on, until it leaves or something else is chosen; at most once a frame. */
  point(chosen: Chosen, from: unknown): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.tell(chosen === NOTHING ? this.pinned : chosen, from, false));
  }

  /** Keep it. The same again, or Escape, lets it go. */
  pin(chosen: Chosen, from: unknown): void {
    const isSame = chosen.kernel === this.pinned.kernel && same(chosen.places, this.pinned.places);
    this.pinned = isSame ? NOTHING : chosen;
    this.tell(this.pinned, from, !isSame);
  }

  clear(from: unknown): void {
    this.pinned = NOTHING;
    this.tell(NOTHING, from, false);
  }

  private tell(chosen: Chosen, from: unknown, isPinned: boolean): void {
    // a frame that still waits would show again what was left
    cancelAnimationFrame(this.frame);
    for (const listener of this.listeners) {
      listener(chosen, from, isPinned);
    }
  }
}

function same(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  return one.size === other.size && [...one].every((place) => other.has(place));
}
