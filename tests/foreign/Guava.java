/* Guava.java - real Guava on one side of guava.t.
 *
 *     Guava make FILE TYPE N P < keys     a filter as writeTo writes it
 *     Guava ask FILE TYPE < keys          prints the keys that mightContain finds */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

class Guava {
    static <T> void run(String[] a, Funnel<T> funnel, Function<String, T> from) throws Exception {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        if (a[0].equals("make")) {
            BloomFilter<T> f =
                BloomFilter.create(funnel, Long.parseLong(a[3]), Double.parseDouble(a[4]));
            for (String s; (s = in.readLine()) != null;)
                f.put(from.apply(s));
            try (OutputStream o = new FileOutputStream(a[1])) {
                f.writeTo(o);
            }
        } else {
            try (InputStream i = new FileInputStream(a[1])) {
                BloomFilter<T> f = BloomFilter.readFrom(i, funnel);
                for (String s; (s = in.readLine()) != null;)
                    if (f.mightContain(from.apply(s)))
                        out.println(s);
            }
        }
        out.flush();
    }

    public static void main(String[] a) throws Exception {
        switch (a[2]) {
        case "utf8": run(a, Funnels.stringFunnel(StandardCharsets.UTF_8), s -> s); break;
        case "utf16": run(a, Funnels.unencodedCharsFunnel(), s -> s); break;
        case "int32": run(a, Funnels.integerFunnel(), Integer::valueOf); break;
        case "int64": run(a, Funnels.longFunnel(), Long::valueOf); break;
        default: run(a, Funnels.byteArrayFunnel(), s -> s.getBytes(StandardCharsets.UTF_8));
        }
    }
}
