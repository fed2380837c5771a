// A command of about 5 ms: runner KIND.
#include <string.h>
void arithmetic(void), hashing(void), memory(void), allocation(void), calls(void);

int main(int count, char **words) {
    void (*kind)(void) = count < 2 ? calls : !strcmp(words[1], "arithmetic") ? arithmetic : !strcmp(words[1], "hashing") ? hashing
        : !strcmp(words[1], "memory") ? memory : !strcmp(words[1], "allocation") ? allocation : calls;
    for (int i = 0; i < 150; i++) kind();
    return 0;
}
