import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The scenarios of MemoryScenarios.swift with Caffeine, whose maintenance runs in the caller ("inline") or elsewhere. */
public final class CaffeineBench {
  interface Work {
    long run(int worker, int operations);
  }

  static final int ENTRIES = 100_000, OPERATIONS = 100_000, REQUESTS = 1 << 19;
  static final String[] keys = new String[ENTRIES], strangers = new String[ENTRIES];
  static final int[] requests = new int[REQUESTS];
  static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
  static volatile long sink;

  static Cache<String, Integer> cache(boolean inline, int capacity) {
    Caffeine<Object, Object> builder = Caffeine.newBuilder().maximumSize(capacity);
    if (inline) builder.executor(Runnable::run);
    return builder.build();
  }

  static void measure(String scenario, String name, int threads, int rounds, Work work) throws Exception {
    List<String> samples = new ArrayList<>();
    int warmUp = 12;
    for (int round = 0; round < rounds + warmUp; round++) {
      Thread[] workers = new Thread[threads];
      long[] processor = new long[threads];
      long began = System.nanoTime();
      for (int worker = 0; worker < threads; worker++) {
        int number = worker;
        workers[worker] = new Thread(() -> {
          long start = clock.getCurrentThreadCpuTime();
          sink += work.run(number, OPERATIONS);
          processor[number] = clock.getCurrentThreadCpuTime() - start;
        });
        workers[worker].start();
      }
      for (Thread worker : workers) worker.join();
      // As in Measurement.swift: the processor's time of one thread, or the time that passes for several.
      double each = (threads == 1 ? processor[0] : System.nanoTime() - began) / (double) OPERATIONS;
      if (round >= warmUp) samples.add(String.format(java.util.Locale.ROOT, "%.1f", each));
    }
    System.out.println(scenario + "\t" + threads + "\t" + name + "\t" + String.join("\t", samples));
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[0]);
    for (int i = 0; i < ENTRIES; i++) {
      keys[i] = String.format("user:profile:%012d", i);
      strangers[i] = String.format("user:strange:%012d", i);
    }
    double sum = 0;
    double[] cumulated = new double[ENTRIES];
    for (int rank = 1; rank <= ENTRIES; rank++) cumulated[rank - 1] = sum += 1 / Math.pow(rank, 0.99);
    Random random = new Random(7);
    int[] order = new int[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) order[i] = i;
    for (int i = ENTRIES - 1; i > 0; i--) {
      int j = random.nextInt(i + 1), kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    for (int i = 0; i < REQUESTS; i++) {
      int place = java.util.Arrays.binarySearch(cumulated, random.nextDouble() * sum);
      requests[i] = order[Math.min(ENTRIES - 1, place < 0 ? -place - 1 : place)];
    }
    for (boolean inline : new boolean[] {true, false}) {
      String name = inline ? "Caffeine 2.6.2, inline" : "Caffeine 2.6.2";
      Cache<String, Integer> full = cache(inline, ENTRIES * 4), tight = cache(inline, ENTRIES / 10),
          through = cache(inline, ENTRIES / 10);
      for (int i = 0; i < ENTRIES; i++) full.put(keys[i], i);
      for (int threads = 1; threads <= 2; threads++) {
        measure("hit", name, threads, rounds, (worker, operations) -> {
          long total = 0;
          for (int i = 0, at = worker * REQUESTS / 2; i < operations; i++, at = at + 1 == REQUESTS ? 0 : at + 1)
            total += full.getIfPresent(keys[requests[at]]);
          return total;
        });
        measure("miss", name, threads, rounds, (worker, operations) -> {
          long total = 0;
          for (int i = 0, at = worker * REQUESTS / 2; i < operations; i++, at = at + 1 == REQUESTS ? 0 : at + 1)
            if (full.getIfPresent(strangers[requests[at]]) != null) total++;
          return total;
        });
        measure("set", name, threads, rounds, (worker, operations) -> {
          for (int i = 0, at = worker * REQUESTS / 2; i < operations; i++, at = at + 1 == REQUESTS ? 0 : at + 1)
            full.put(keys[requests[at]], requests[at]);
          return 0;
        });
        measure("evict", name, threads, rounds, (worker, operations) -> {
          for (int i = 0, at = worker * ENTRIES / 2; i < operations; i++, at = at + 1 == ENTRIES ? 0 : at + 1)
            tight.put(keys[at], at);
          return 0;
        });
        measure("mixed", name, threads, rounds, (worker, operations) -> {
          long total = 0;
          for (int i = 0, at = worker * REQUESTS / 2; i < operations; i++, at = at + 1 == REQUESTS ? 0 : at + 1) {
            int key = requests[at];
            if (key % 20 == 0) full.put(keys[key], key); else total += full.getIfPresent(keys[key]);
          }
          return total;
        });
        measure("through", name, threads, rounds, (worker, operations) -> {
          long total = 0;
          for (int i = 0, at = worker * REQUESTS / 2; i < operations; i++, at = at + 1 == REQUESTS ? 0 : at + 1) {
            int key = requests[at];
            Integer value = through.getIfPresent(keys[key]);
            if (value == null) through.put(keys[key], key); else total += value;
          }
          return total;
        });
      }
    }
  }
}
