/* main.c - placeholder until the command table stands. */
int main(void)
{
    return 0;
}
