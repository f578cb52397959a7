-- needs: ccp/cover.sql, ccp/party.sql
-- Hidden wire and mines in ccp, revealed as a hex is entered: A43.2, A43.3, A43.7.

create or replace function ccp._hidden(party ccp.party)
returns table (kind text, rule text, q integer, r integer, label text, placed boolean)
language plpgsql stable rows 2
as $$
#variable_conflict use_column
declare
  twice text;
begin
  select wire.label
  into twice
  from jsonb_array_elements_text(party.options -> 'hidden_wire') as wire (label)
  inner join jsonb_array_elements_text(party.options -> 'hidden_mines') as mines (label) on mines.label = wire.label
  limit 1;
  if twice is not null then
    raise exception 'either wire or mines are revealed in %: a hex has one fortification (15.1.3)', twice
      using errcode = 'no_data_found';
  end if;
  return query
  select distinct
    asked.kind,
    asked.rule,
    hex.q,
    hex.r,
    hex.label,
    not ccp._is_water(hex.terrain)
    and not exists (
      select
      from public.marker
      where marker.position_id = (party.state).position_id
        and marker.q = hex.q
        and marker.r = hex.r
        and marker.kind in (select fort.kind from ccp._fortifications() as fort)
    )
  from (values ('wire', 'hidden_wire', 'A43.7'), ('mines', 'hidden_mines', 'A43.2')) as asked (kind, word, rule)
  cross join lateral jsonb_array_elements_text(party.options -> asked.word) as named (label)
  inner join public.hex on hex.map_id = (party.state).map_id and hex.label = named.label;
end
$$;

comment on function ccp._hidden(ccp.party) is
'Wire and mines that are revealed as the hex is entered, and whether they may be placed there (A43.2, A43.3, A43.7).';

create or replace function ccp._hidden_steps(party ccp.party, qs integer[], rs integer[])
returns setof ccp.order_step
language sql stable rows 2
as $$
  select
    1000,
    0,
    hidden.rule,
    hidden.label,
    'not placed',
    case
      when entered.q is null then format('it does not enter %s', hidden.label)
      else format('no %s is placed in water or beside another fortification', hidden.kind)
    end,
    null,
    null::integer,
    null
  from ccp._hidden(party) as hidden
  left join (
    select distinct
      hex.q,
      hex.r
    from unnest(_hidden_steps.qs, _hidden_steps.rs) as hex (q, r)
  ) as entered on entered.q = hidden.q and entered.r = hidden.r
  where entered.q is null or not hidden.placed
$$;

comment on function ccp._hidden_steps(ccp.party, integer[], integer[]) is
'Wire and mines that are not placed, as the hex is not entered or may not have them (A43.2, A43.3, A43.7).';
