interface Cell<T> {
  value: T | undefined;
}

/**
 * Members that come and go by the thousand. In V8 a Map or a Set that has taken as many as it has room for moves into a new
 * table, and the old one still points to the new one and to the members of that time: once a single such table has
 * become old, whatever was ever a member is kept until the next full collection, with all that hangs on it. Here a member
 * lies in a cell of its own, which is empty when it has left.
 */
export class Registry<T> {
  private readonly cells = new Map<number, Cell<T>>();
  private lastKey = 0;

  get size(): number {
    return this.cells.size;
  }

  /** Answers its key. No key is given twice. */
  add(value: T): number {
    this.lastKey += 1;
    this.cells.set(this.lastKey, { value });
    return this.lastKey;
  }

  has(key: number): boolean {
    return this.cells.has(key);
  }

  /** Undefined: it has left already. */
  take(key: number): T | undefined {
    const cell = this.cells.get(key);
    if (!cell) return undefined;
    this.cells.delete(key);
    const { value } = cell;
    cell.value = undefined;
    return value;
  }

  /** Oldest first. */
  *values(): Generator<T> {
    for (const { value } of this.cells.values()) if (value !== undefined) yield value;
  }
}
